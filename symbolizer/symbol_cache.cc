// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/symbol_cache.h"

#include <fmt/core.h>

#include <utility>

namespace firetower::symbolizer {

namespace {

// List node, hash node and bucket of one entry, on 64-bit libstdc++ with malloc's own overhead.
constexpr size_t kEntryOverheadBytes = 160;

}  // namespace

SymbolCache::Found SymbolCache::Find(std::string_view key) {
  std::lock_guard lock(mutex_);
  auto found = index_.find(key);
  if (found == index_.end()) {
    ++counters_.misses;
    return {};
  }
  ++counters_.hits;
  Entries::iterator entry = found->second;
  Entries& entries = entry->table ? positive_ : negative_;
  entries.splice(entries.begin(), entries, entry);
  return {entry->table ? State::kHit : State::kNegative, entry->table};
}

void SymbolCache::Insert(std::string_view key, std::shared_ptr<const SymbolTable> table) {
  std::lock_guard lock(mutex_);
  InsertLocked(key, std::move(table));
}

void SymbolCache::InsertNegative(std::string_view key) {
  std::lock_guard lock(mutex_);
  InsertLocked(key, nullptr);
}

void SymbolCache::Erase(std::string_view key) {
  std::lock_guard lock(mutex_);
  EraseLocked(key);
}

void SymbolCache::SetBudget(size_t budget_bytes) {
  std::lock_guard lock(mutex_);
  budget_bytes_ = budget_bytes;
  EvictLocked();
}

SymbolCache::Counters SymbolCache::counters() const {
  std::lock_guard lock(mutex_);
  Counters counters = counters_;
  counters.tables = positive_.size();
  counters.negatives = negative_.size();
  return counters;
}

void SymbolCache::InsertLocked(std::string_view key, std::shared_ptr<const SymbolTable> table) {
  EraseLocked(key);
  size_t cost = kEntryOverheadBytes + key.size() + (table ? table->bytes() : 0);
  if (table && cost > budget_bytes_) {
    ++counters_.too_large;
    table = nullptr;
    cost = kEntryOverheadBytes + key.size();
  }
  Entries& entries = table ? positive_ : negative_;
  entries.push_front({std::string(key), std::move(table), cost});
  index_.emplace(entries.front().key, entries.begin());
  counters_.bytes += cost;
  EvictLocked();
}

void SymbolCache::EraseLocked(std::string_view key) {
  auto found = index_.find(key);
  if (found == index_.end()) return;
  Entries::iterator entry = found->second;
  RemoveLocked(entry->table ? positive_ : negative_, entry);
}

void SymbolCache::RemoveLocked(Entries& entries, Entries::iterator entry) {
  counters_.bytes -= entry->cost_bytes;
  index_.erase(entry->key);  // before the entry: the index borrows its key
  entries.erase(entry);
}

void SymbolCache::EvictLocked() {
  while (negative_.size() > kMaxNegativeEntries) {
    RemoveLocked(negative_, std::prev(negative_.end()));
  }
  while (counters_.bytes > budget_bytes_ && !(positive_.empty() && negative_.empty())) {
    Entries& entries = positive_.empty() ? negative_ : positive_;
    if (!positive_.empty()) ++counters_.evictions;
    RemoveLocked(entries, std::prev(entries.end()));
  }
}

std::string FileKey(uint64_t device, uint64_t inode, int64_t mtime_ns) {
  return fmt::format("{:x}:{}:{}", device, inode, mtime_ns);
}

}  // namespace firetower::symbolizer
