// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/go/pclntab.h"

#include <algorithm>
#include <cstring>

#include "symbolizer/cfi/byte_reader.h"
#include "symbolizer/go/find_pclntab.h"
#include "symbolizer/go/module_data.h"

namespace firetower::symbolizer {

namespace {

// runtime.functab: address and offset of the record, since 1.18 the distance from the code's begin.
uint64_t EntryBytes(Pclntab::Version version) {
  return version == Pclntab::Version::kGo116 ? 16 : 8;
}

// Indices at the end of a function's record (internal/abi/symtab.go).
constexpr uint32_t kInlineIndexValues = 2;
constexpr uint32_t kInlineTree = 3;
constexpr uint32_t kNoFuncdata = UINT32_MAX;
// A record's fixed part and more lists behind it than any compiler writes.
constexpr size_t kRecordBytes = 256;

// Sizes of windows in chunks: tables that are read in order need few.
constexpr size_t kInOrder = 4;
constexpr size_t kNearlyInOrder = 32;

}  // namespace

Pclntab::Pclntab(const ElfFile& file, const Layout& layout, uint64_t text_elf_vaddr,
                 uint64_t funcdata_elf_vaddr)
    : layout_(layout),
      text_elf_vaddr_(text_elf_vaddr),
      funcdata_elf_vaddr_(funcdata_elf_vaddr),
      names_(file.source(), layout.file_offset + layout.names, layout.units - layout.names,
             kNearlyInOrder),
      units_(file.source(), layout.file_offset + layout.units, layout.files - layout.units,
             kInOrder),
      files_(file.source(), layout.file_offset + layout.files, layout.values - layout.files,
             kNearlyInOrder),
      values_(file.source(), layout.file_offset + layout.values, layout.functions - layout.values),
      entries_(file.source(), layout.file_offset + layout.functions, layout.end - layout.functions,
               kInOrder),
      records_(file.source(), layout.file_offset + layout.functions, layout.end - layout.functions,
               kInOrder) {}

Result<Pclntab> Pclntab::Open(const ElfFile& file) {
  ASSIGN_OR_RETURN(const Layout layout, FindPclntab(file));
  if (layout.function_count * EntryBytes(layout.version) > layout.end - layout.functions) {
    return Error(ErrorCode::kCorrupt, "Go's function table is longer than its section");
  }
  ASSIGN_OR_RETURN(const std::optional<GoModuleData> module, FindGoModuleData(file, layout));
  uint64_t text_elf_vaddr = module ? module->text_elf_vaddr : layout.text_elf_vaddr;
  if (layout.version == Version::kGo116) {
    text_elf_vaddr = 0;
  } else if (text_elf_vaddr == 0) {
    return Error(ErrorCode::kUnsupported, "a Go program that does not say where its code begins");
  }
  Pclntab table(file, layout, text_elf_vaddr, module ? module->funcdata_elf_vaddr : 0);
  RETURN_IF_ERROR(table.FindCode(file));
  return table;
}

// From the first function to the last one's end, which must be code in the file.
Status Pclntab::FindCode(const ElfFile& file) {
  const std::optional<Entry> first = ReadEntry(0);
  const std::optional<Entry> last = ReadEntry(layout_.function_count - 1);
  // Its address is the last thing: behind it no record follows.
  const uint64_t end_offset = layout_.function_count * EntryBytes(layout_.version);
  const size_t address_bytes = layout_.version == Version::kGo116 ? 8 : 4;
  ByteReader end(entries_.Get(end_offset, address_bytes));
  if (!first || !last || !ReadRecord(*first)) {
    RETURN_IF_ERROR(status());
    return Error(ErrorCode::kUnsupported, "Go's function table is not readable");
  }
  begin_elf_vaddr_ = first->elf_vaddr;
  end_elf_vaddr_ = layout_.version == Version::kGo116 ? end.Fixed<uint64_t>()
                                                      : text_elf_vaddr_ + end.Fixed<uint32_t>();
  if (!end.failed() && last->elf_vaddr < end_elf_vaddr_) {
    for (const Elf64_Phdr& segment : file.program_headers()) {
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
          begin_elf_vaddr_ >= segment.p_vaddr && begin_elf_vaddr_ < end_elf_vaddr_ &&
          end_elf_vaddr_ - segment.p_vaddr <= segment.p_filesz) {
        return OkStatus();
      }
    }
  }
  return Error(ErrorCode::kUnsupported, "Go's function table is of no code in this file");
}

std::optional<Pclntab::Entry> Pclntab::ReadEntry(uint32_t index) {
  const uint64_t bytes = EntryBytes(layout_.version);
  ByteReader reader(entries_.Get(index * bytes, static_cast<size_t>(bytes)));
  Entry entry;
  if (layout_.version == Version::kGo116) {
    entry.elf_vaddr = reader.Fixed<uint64_t>();
    entry.record = reader.Fixed<uint64_t>();
  } else {
    entry.elf_vaddr = text_elf_vaddr_ + reader.Fixed<uint32_t>();
    entry.record = reader.Fixed<uint32_t>();
  }
  if (reader.failed()) return std::nullopt;
  return entry;
}

// runtime._func: numbers of 4 bytes, then a list of pcdata and one of funcdata.
std::optional<GoFunction> Pclntab::ReadRecord(const Entry& entry) {
  GoFunction function;
  function.begin_elf_vaddr = entry.elf_vaddr;
  ByteReader reader(records_.Get(entry.record, kRecordBytes));
  const bool old = layout_.version == Version::kGo116;
  const uint64_t begin =
      old ? reader.Fixed<uint64_t>() : text_elf_vaddr_ + reader.Fixed<uint32_t>();
  function.name = reader.Fixed<uint32_t>();
  reader.Fixed<uint32_t>();  // bytes of arguments
  reader.Fixed<uint32_t>();  // where deferred calls return to
  function.stack_depth_values = reader.Fixed<uint32_t>();
  function.file_values = reader.Fixed<uint32_t>();
  function.line_values = reader.Fixed<uint32_t>();
  const auto values = reader.Fixed<uint32_t>();
  function.unit = reader.Fixed<uint32_t>();
  if (layout_.version == Version::kGo120) reader.Fixed<uint32_t>();  // first line
  reader.U8();                                                       // id
  function.flags = reader.U8();
  reader.U8();
  const uint8_t funcdata = reader.U8();
  // The record repeats the address; if they differ, it is not a record.
  if (reader.failed() || begin != entry.elf_vaddr) return std::nullopt;

  if (values > kInlineIndexValues) {
    ByteReader list(records_.Get(entry.record + reader.position() + kInlineIndexValues * 4, 4));
    function.inline_values = list.Fixed<uint32_t>();
  }
  if (funcdata <= kInlineTree) return function;
  uint64_t lists = entry.record + reader.position() + uint64_t{values} * 4;
  if (old) {
    // Addresses, aligned.
    lists = (lists + 7) & ~uint64_t{7};
    ByteReader tree(records_.Get(lists + kInlineTree * 8, 8));
    function.inline_tree_elf_vaddr = tree.Fixed<uint64_t>();
  } else {
    ByteReader tree(records_.Get(lists + kInlineTree * 4, 4));
    const auto offset = tree.Fixed<uint32_t>();
    if (!tree.failed() && offset != kNoFuncdata && funcdata_elf_vaddr_ != 0) {
      function.inline_tree_elf_vaddr = funcdata_elf_vaddr_ + offset;
    }
  }
  return function;
}

std::optional<GoFunction> Pclntab::Function(uint32_t index) {
  if (index >= layout_.function_count) return std::nullopt;
  const std::optional<Entry> entry = ReadEntry(index);
  uint64_t end_elf_vaddr = end_elf_vaddr_;
  if (index + 1 < layout_.function_count) {
    const std::optional<Entry> next = ReadEntry(index + 1);
    if (!next) return std::nullopt;
    end_elf_vaddr = next->elf_vaddr;
  }
  if (!entry || entry->elf_vaddr < begin_elf_vaddr_ || entry->elf_vaddr >= end_elf_vaddr ||
      end_elf_vaddr > end_elf_vaddr_) {
    return std::nullopt;
  }
  std::optional<GoFunction> function = ReadRecord(*entry);
  if (function) function->end_elf_vaddr = end_elf_vaddr;
  return function;
}

std::optional<uint32_t> Pclntab::FindFunction(uint64_t elf_vaddr) {
  if (elf_vaddr < begin_elf_vaddr_ || elf_vaddr >= end_elf_vaddr_) return std::nullopt;
  uint32_t low = 0;
  uint32_t high = layout_.function_count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    const std::optional<Entry> entry = ReadEntry(middle);
    if (!entry) return std::nullopt;
    (entry->elf_vaddr <= elf_vaddr ? low : high) = middle;
  }
  return low;
}

std::string Pclntab::ReadString(FrameBytes& bytes, uint64_t offset) {
  const std::span<const std::byte> found = bytes.Get(offset, kMaxNameBytes);
  const auto* text = reinterpret_cast<const char*>(found.data());
  return {text, found.empty() ? 0 : strnlen(text, found.size())};
}

std::string Pclntab::Name(uint32_t name) { return ReadString(names_, name); }

// runtime.funcfile: a unit's files are entries of a table of offsets.
std::string Pclntab::FileName(const GoFunction& function, int32_t file) {
  if (file < 0) return {};
  ByteReader reader(units_.Get((uint64_t{function.unit} + static_cast<uint32_t>(file)) * 4, 4));
  const auto offset = reader.Fixed<uint32_t>();
  if (reader.failed() || offset == UINT32_MAX) return {};
  return ReadString(files_, offset);
}

Status Pclntab::status() const {
  for (const FrameBytes* bytes : {&names_, &units_, &files_, &values_, &entries_, &records_}) {
    RETURN_IF_ERROR(bytes->status());
  }
  return OkStatus();
}

}  // namespace firetower::symbolizer
