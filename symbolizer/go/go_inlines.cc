// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/go/go_inlines.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "symbolizer/cfi/byte_reader.h"
#include "symbolizer/go/go_values.h"
#include "symbolizer/go/pclntab.h"
#include "symbolizer/string_pool.h"

namespace firetower::symbolizer {

namespace {

constexpr int32_t kMaxCallsOfAFunction = 1 << 16;

void AddUleb(std::string& bytes, uint32_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

class Loader {
 public:
  Loader(const ElfFile& file, Pclntab& table, const SymbolTable& symbols)
      : file_(&file), table_(&table), symbols_(&symbols), names_(kMaxGoInlinesBytes) {}

  // False: it is too much.
  bool Run() {
    tables_.base_elf_vaddr = table_->begin_elf_vaddr();
    for (uint32_t index = 0; index < table_->function_count(); ++index) {
      const std::optional<GoFunction> function = table_->Function(index);
      if (!function || function->begin_elf_vaddr < done_elf_vaddr_) continue;
      done_elf_vaddr_ = function->end_elf_vaddr;
      if (!Add(*function)) return false;
    }
    return static_cast<bool>(table_->status());
  }

  std::shared_ptr<const SourceFrames> Take() {
    if (tables_.functions.empty()) return nullptr;
    tables_.names = names_.Take();
    tables_.functions.shrink_to_fit();
    tables_.calls.shrink_to_fit();
    tables_.stretches.shrink_to_fit();
    return std::make_shared<const GoInlines>(std::move(tables_));
  }

 private:
  bool Add(const GoFunction& function) {
    const uint64_t begin = function.begin_elf_vaddr - tables_.base_elf_vaddr;
    const uint64_t size = function.end_elf_vaddr - function.begin_elf_vaddr;
    if (function.inline_tree_elf_vaddr == 0 || begin + size > UINT32_MAX) return true;
    GoInlines::Function added{.begin = static_cast<uint32_t>(begin),
                              .size_bytes = static_cast<uint32_t>(size),
                              .stretches = static_cast<uint32_t>(tables_.stretches.size()),
                              .first_call = static_cast<uint32_t>(tables_.calls.size())};
    const int32_t last_call = AddStretches(function);
    if (last_call < 0 || last_call >= kMaxCallsOfAFunction || !AddCalls(function, last_call)) {
      tables_.stretches.resize(added.stretches);
      tables_.calls.resize(added.first_call);
      return true;
    }
    const auto symbol = symbols_->FindVaddr(function.begin_elf_vaddr);
    const auto name = symbol ? names_.Add(symbol->name) : names_.Add(table_->Name(function.name));
    if (!name || exhausted_) return false;
    added.name = *name;
    tables_.functions.push_back(added);
    return tables_.functions.size() * sizeof(GoInlines::Function) +
               tables_.calls.size() * sizeof(GoInlines::Call) + tables_.stretches.size() <
           kMaxGoInlinesBytes;
  }

  // Returns the highest call's index.
  int32_t AddStretches(const GoFunction& function) {
    GoValues values(*table_, function.inline_values, function.begin_elf_vaddr);
    int32_t highest = -1;
    uint64_t at = function.begin_elf_vaddr;
    while (at < function.end_elf_vaddr && values.Next()) {
      const int32_t call = std::max(values.value(), -1);
      highest = std::max(highest, call);
      const uint64_t end = std::min(values.end_elf_vaddr(), function.end_elf_vaddr);
      AddStretch(call, end - at);
      at = end;
    }
    // Padding.
    if (at < function.end_elf_vaddr) AddStretch(-1, function.end_elf_vaddr - at);
    return highest;
  }

  void AddStretch(int32_t call, uint64_t code_bytes) {
    AddUleb(tables_.stretches, static_cast<uint32_t>(call) + 1);  // INT32_MAX, too
    AddUleb(tables_.stretches, static_cast<uint32_t>(code_bytes));
  }

  // runtime.inlinedCall: since Go 1.20 kind, name, place, first line; before parent and kind, file,
  // line, name, place.
  bool AddCalls(const GoFunction& function, int32_t last_call) {
    const bool old = table_->version() != Pclntab::Version::kGo120;
    const size_t bytes = old ? 20 : 16;
    if (!OpenTrees(function.inline_tree_elf_vaddr)) return false;
    uint64_t offset = function.inline_tree_elf_vaddr - trees_elf_vaddr_;
    for (int32_t call = 0; call <= last_call; ++call, offset += bytes) {
      ByteReader reader(trees_->Get(offset, bytes));
      for (int skipped = 0; skipped < (old ? 3 : 1); ++skipped) reader.Fixed<uint32_t>();
      const auto name = reader.Fixed<uint32_t>();
      const auto place = reader.Fixed<uint32_t>();
      if (reader.failed()) return false;
      tables_.calls.push_back({NameOf(name), place});
    }
    return true;
  }

  // All trees are in one part of the file.
  bool OpenTrees(uint64_t elf_vaddr) {
    if (trees_) return elf_vaddr >= trees_elf_vaddr_;
    for (const Elf64_Phdr& segment : file_->program_headers()) {
      if (segment.p_type != PT_LOAD || elf_vaddr < segment.p_vaddr ||
          elf_vaddr - segment.p_vaddr >= segment.p_filesz ||
          segment.p_offset >= file_->source().size()) {
        continue;
      }
      trees_elf_vaddr_ = segment.p_vaddr;
      trees_.emplace(file_->source(), segment.p_offset,
                     std::min(segment.p_filesz, file_->source().size() - segment.p_offset),
                     kTreeChunks);
      return true;
    }
    return false;
  }

  uint32_t NameOf(uint32_t name) {
    auto [known, inserted] = name_offsets_.try_emplace(name);
    if (inserted) {
      const auto offset = names_.Add(table_->Name(name));
      exhausted_ |= !offset;
      known->second = offset.value_or(0);
    }
    return known->second;
  }

  static constexpr size_t kTreeChunks = 16;

  const ElfFile* file_;
  Pclntab* table_;
  const SymbolTable* symbols_;
  StringPool names_;
  std::unordered_map<uint32_t, uint32_t> name_offsets_;
  bool exhausted_ = false;
  std::optional<FrameBytes> trees_;
  uint64_t trees_elf_vaddr_ = 0;
  uint64_t done_elf_vaddr_ = 0;
  GoInlines::Tables tables_;
};

}  // namespace

const GoInlines::Call* GoInlines::CallAt(const Function& function, uint32_t behind) const {
  ByteReader reader(std::as_bytes(std::span(tables_.stretches)).subspan(function.stretches));
  for (uint64_t end = 0; !reader.failed() && end < function.size_bytes;) {
    const uint64_t call = reader.Uleb();
    end += reader.Uleb();
    if (behind < end) return call == 0 ? nullptr : &tables_.calls[function.first_call + call - 1];
  }
  return nullptr;
}

void GoInlines::Find(uint64_t elf_vaddr, std::vector<SourceFrame>& out) const {
  if (elf_vaddr < tables_.base_elf_vaddr) return;
  const uint64_t wanted = elf_vaddr - tables_.base_elf_vaddr;
  auto above = std::upper_bound(
      tables_.functions.begin(), tables_.functions.end(), wanted,
      [](uint64_t offset, const Function& function) { return offset < function.begin; });
  if (above == tables_.functions.begin()) return;
  const Function& function = *(above - 1);
  if (wanted - function.begin >= function.size_bytes) return;
  const Call* call = CallAt(function, static_cast<uint32_t>(wanted - function.begin));
  if (call == nullptr) return;
  for (size_t depth = 0; call != nullptr && depth < kMaxDepth; ++depth) {
    out.push_back({.name = tables_.names.c_str() + call->name});
    call = CallAt(function, call->place);
  }
  out.push_back({.name = tables_.names.c_str() + function.name});
}

size_t GoInlines::bytes() const {
  return sizeof(*this) + tables_.functions.capacity() * sizeof(Function) +
         tables_.calls.capacity() * sizeof(Call) + tables_.stretches.capacity() +
         tables_.names.capacity() + 2;
}

std::shared_ptr<const SourceFrames> LoadGoInlines(const ElfFile& file, const SymbolTable& symbols) {
  auto table = Pclntab::Open(file);
  if (!table) return nullptr;
  Loader loader(file, *table, symbols);
  return loader.Run() ? loader.Take() : nullptr;
}

}  // namespace firetower::symbolizer
