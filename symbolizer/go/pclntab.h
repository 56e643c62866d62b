// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbolizer/cfi/frame_bytes.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::symbolizer {

// One function of a Go program, as its record in .gopclntab has it. Offsets are into the tables
// that the names say; 0 where a table of values is missing.
struct GoFunction {
  uint64_t begin_elf_vaddr = 0;
  uint64_t end_elf_vaddr = 0;
  uint32_t name = 0;
  uint32_t stack_depth_values = 0;  // pcsp: bytes between the stack pointer and the return address
  uint32_t file_values = 0;         // pcfile
  uint32_t line_values = 0;         // pcln
  uint32_t inline_values = 0;       // pcdata: index in the inline tree
  uint64_t inline_tree_elf_vaddr = 0;  // funcdata; 0: nothing is inlined, or we cannot tell where
  uint32_t unit = 0;                   // its first entry in the table of files
  uint8_t flags = 0;                   // kGoTopFrame and the like; 0 in what Go 1.16 wrote
};
inline constexpr uint8_t kGoTopFrame = 1;          // the first frame of its stack
inline constexpr uint8_t kGoSetsStackPointer = 2;  // otherwise than by adding to it

// The table that every Go program carries, stripped or not: what code is which function, how deep
// its stack is, which line, which calls were inlined. For 64-bit little-endian programs of Go 1.16
// (2021) and newer.
//
// Every number of it is checked where it is used. Memory: windows of a few MiB at most. Belongs to
// one thread.
class Pclntab {
 public:
  enum class Version : uint8_t { kGo116, kGo118, kGo120 };  // the first that wrote it
  static constexpr uint32_t kMaxFunctions = 4u << 20;       // Kubernetes' largest have 150,000

  // kNotFound: not a Go program. kUnsupported: one of a version that we do not know, or where its
  // code is cannot be told. `file` must outlive the result.
  static Result<Pclntab> Open(const ElfFile& file);

  Version version() const { return layout_.version; }
  uint32_t function_count() const { return layout_.function_count; }
  // The code of all functions; between them is nothing but padding.
  uint64_t begin_elf_vaddr() const { return begin_elf_vaddr_; }
  uint64_t end_elf_vaddr() const { return end_elf_vaddr_; }
  // Where names are in the file, each at its offset and NUL-terminated.
  uint64_t names_file_offset() const { return layout_.file_offset + layout_.names; }
  uint64_t names_bytes() const { return layout_.units - layout_.names; }

  // Cheap for rising indices. Nothing when its record is damaged.
  std::optional<GoFunction> Function(uint32_t index);
  // The function at an address.
  std::optional<uint32_t> FindFunction(uint64_t elf_vaddr);
  // At most kMaxNameBytes of it; empty when it is out of range.
  std::string Name(uint32_t name);
  // The path of a file by its number in the function's unit; empty when there is none.
  std::string FileName(const GoFunction& function, int32_t file);

  // For GoValues.
  FrameBytes& values() { return values_; }
  // What reading met; once failed, nothing more is found.
  Status status() const;

  static constexpr size_t kMaxNameBytes = 4096;

  // Where the parts are, in bytes from the table's start, in rising order.
  struct Layout {
    Version version = Version::kGo120;
    uint32_t function_count = 0;
    uint64_t text_elf_vaddr = 0;  // of the header; 0 in positions-independent files and since 1.26
    uint64_t file_offset = 0;
    uint64_t elf_vaddr = 0;
    uint64_t names = 0;
    uint64_t units = 0;
    uint64_t files = 0;
    uint64_t values = 0;
    uint64_t functions = 0;
    uint64_t end = 0;
  };

 private:
  Pclntab(const ElfFile& file, const Layout& layout, uint64_t text_elf_vaddr,
          uint64_t funcdata_elf_vaddr);
  Status FindCode(const ElfFile& file);

  struct Entry {
    uint64_t elf_vaddr = 0;
    uint64_t record = 0;
  };
  std::optional<Entry> ReadEntry(uint32_t index);
  std::optional<GoFunction> ReadRecord(const Entry& entry);
  std::string ReadString(FrameBytes& bytes, uint64_t offset);

  Layout layout_;
  uint64_t text_elf_vaddr_;
  uint64_t funcdata_elf_vaddr_;  // 0: not known
  uint64_t begin_elf_vaddr_ = 0;
  uint64_t end_elf_vaddr_ = 0;
  // A window for each part, since each is walked at its own pace.
  FrameBytes names_;
  FrameBytes units_;
  FrameBytes files_;
  FrameBytes values_;
  FrameBytes entries_;
  FrameBytes records_;
};

}  // namespace firetower::symbolizer
