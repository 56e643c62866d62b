// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/function_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "bpf/abi/unwind.h"
#include "daemon/runtimes/perl/perl_function.h"
#include "daemon/runtimes/php/php_function.h"
#include "daemon/runtimes/ruby/ruby_function.h"

namespace firetower::daemon {
namespace {

Result<ReadFunction> ReadRecord(uint8_t runtime, std::span<const std::byte> record) {
  switch (runtime) {
    case FT_RUNTIME_PHP:
      return ReadPhpRecord(record);
    case FT_RUNTIME_RUBY:
      return ReadRubyRecord(record);
    case FT_RUNTIME_PERL:
      return ReadPerlRecord(record);
    default:
      return ReadFunctionRecord(record);
  }
}

}  // namespace

uint64_t FunctionTable::KeyOf(uint32_t pid, uint32_t identity, uint64_t code, uint32_t cookie) {
  const uint64_t process = HashWord(kHashSeed, uint64_t{pid} << 32 | identity);
  return HashWord(HashWord(process, code), cookie);
}

FunctionTable::Generation* FunctionTable::GenerationOf(uint32_t epoch) {
  for (Generation& generation : generations_) {
    if (generation.epoch == epoch) return &generation;
  }
  if (epoch < generations_[newest_].epoch) return nullptr;
  ForgetOld(generations_[newest_].epoch);
  newest_ = 1 - newest_;
  generations_[newest_].epoch = epoch;
  generations_[newest_].ids.Clear();
  return &generations_[newest_];
}

// Bodies of older epochs are gone, so nothing names what was sent before `epoch` only.
void FunctionTable::ForgetOld(uint32_t epoch) {
  for (auto entry = by_content_.begin(); entry != by_content_.end();) {
    const Entry& function = *entry->second;
    if (function.epoch >= epoch) {
      ++entry;
      continue;
    }
    gone_.push_back(function.id);
    bytes_ -= function.content.size();
    by_id_.erase(function.id);
    entry = by_content_.erase(entry);
  }
}

FunctionTable::Entry* FunctionTable::Intern(const ReadFunction& read) {
  const RuntimeFunction& function = read.function;
  std::string content = function.name + '\0' + function.file + '\0';
  content.append(reinterpret_cast<const char*>(&function.first_line), sizeof(uint32_t));
  content.append(reinterpret_cast<const char*>(&read.minor), sizeof(uint16_t));
  const size_t lines = content.size();
  content += read.lines;
  const auto known = by_content_.find(content);
  if (known != by_content_.end()) return known->second.get();
  if (by_content_.size() >= kMaxFunctions || bytes_ + content.size() > kMaxBytes) {
    ++refused_;
    return nullptr;
  }
  auto entry = std::make_unique<Entry>();
  entry->id = ++last_id_;
  entry->first_line = function.first_line;
  entry->minor = read.minor;
  entry->content = std::move(content);
  entry->lines = lines;
  bytes_ += entry->content.size();
  by_id_[entry->id] = entry.get();
  new_.push_back({entry->id, std::make_shared<const RuntimeFunction>(function)});
  const std::string_view key = entry->content;
  return by_content_.emplace(key, std::move(entry)).first->second.get();
}

bool FunctionTable::Add(std::span<const std::byte> record) {
  ft_function head;
  if (record.size() < offsetof(ft_function, name)) return false;
  std::memcpy(static_cast<void*>(&head), record.data(), offsetof(ft_function, name));
  const Result<ReadFunction> read = ReadRecord(head.runtime, record);
  if (!read) return false;
  Generation* generation = GenerationOf(head.epoch);
  if (generation == nullptr) return true;  // too late for any body
  Entry* entry = Intern(*read);
  if (entry == nullptr) return true;
  Put(*generation,
      KeyOf(head.tgid, ft_identity(head.start_ns, head.exec_id), head.code, head.cookie), *entry);
  return true;
}

uint32_t FunctionTable::Hold(const RuntimeFunction& function) {
  Entry* entry = Intern({.function = function, .lines = {}});
  if (entry == nullptr) return 0;
  entry->epoch = std::max(entry->epoch, generations_[newest_].epoch);
  return entry->id;
}

void FunctionTable::Put(Generation& generation, uint64_t key, Entry& entry) {
  if (generation.ids.size() >= kMaxPlaces) {
    ++refused_;
    return;
  }
  entry.epoch = std::max(entry.epoch, generation.epoch);
  bool inserted = false;
  generation.ids.Insert(key, &inserted) = entry.id;
}

const uint32_t* FunctionTable::FindId(uint64_t key) const {
  const uint32_t* id = generations_[newest_].ids.Find(key);
  return id != nullptr ? id : generations_[1 - newest_].ids.Find(key);
}

namespace {

uint32_t CookieOf(uint64_t where) { return static_cast<uint32_t>(where >> 32); }

bool IsFunction(uint64_t word) {
  const uint64_t kind = word & FT_WORD_KIND;
  return kind == FT_WORD_FRAME || kind == FT_WORD_PHP_FRAME || kind == FT_WORD_RUBY_FRAME ||
         kind == FT_WORD_PERL_FRAME;
}

}  // namespace

FunctionTable::Place FunctionTable::Find(uint32_t pid, uint32_t identity, uint64_t frame,
                                         uint64_t where) const {
  const uint32_t* id = FindId(KeyOf(pid, identity, frame & ~FT_WORD_KIND, CookieOf(where)));
  const auto found = id != nullptr ? by_id_.find(*id) : by_id_.end();
  if (found == by_id_.end()) return {};
  const Entry& entry = *found->second;
  const auto position = static_cast<uint32_t>(where);
  const std::string_view lines = std::string_view(entry.content).substr(entry.lines);
  if (entry.minor == kPositionIsLine) return {*id, position != 0 ? position : entry.first_line};
  return {*id, entry.minor >= kFirstRuby
                   ? LineOfRuby(entry.minor, lines, entry.first_line, position)
                   : LineOf(entry.minor, lines, entry.first_line, position)};
}

void FunctionTable::Keep(uint32_t pid, uint32_t identity, std::span<const uint64_t> words) {
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (!IsFunction(words[i])) continue;
    const uint64_t key = KeyOf(pid, identity, words[i] & ~FT_WORD_KIND, CookieOf(words[i + 1]));
    ++i;
    if (generations_[newest_].ids.Find(key) != nullptr) continue;
    const uint32_t* id = FindId(key);
    const auto found = id != nullptr ? by_id_.find(*id) : by_id_.end();
    if (found != by_id_.end()) Put(generations_[newest_], key, *found->second);
  }
}

void FunctionTable::TakeNew(std::vector<NumberedFunction>& to) {
  to.insert(to.end(), new_.begin(), new_.end());
  new_.clear();
}

void FunctionTable::TakeGone(std::vector<uint32_t>& to) {
  to.insert(to.end(), gone_.begin(), gone_.end());
  gone_.clear();
}

}  // namespace firetower::daemon
