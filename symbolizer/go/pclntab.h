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

// One function of a Go program, from its record in .gopclntab. Offsets point into the tables that
// the names say; 0 means that a table of values is missing.
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

// The function table that every Go program carries, stripped or not: the ranges of functions, the
// depth of their stacks, their lines and inlined calls. Reads 64-bit little-endian programs of Go
// 1.16 (2021) and newer.
//
// Every number is checked where it is used. Memory: windows of a few MiB at most. Belongs to one
// thread.
class Pclntab {
 public:
  enum class Version : uint8_t { kGo116, kGo118, kGo120 };  // the first that wrote it
  static constexpr uint32_t kMaxFunctions = 4u << 20;       // Kubernetes' largest have 150,000

  // Opens the table of a file. kNotFound: not a Go program. kUnsupported: an unknown version, or
  // the address of its code cannot be found. `file` must outlive the result.
  static Result<Pclntab> Open(const ElfFile& file);

  Version version() const { return layout_.version; }
  uint32_t function_count() const { return layout_.function_count; }
  // The range of all functions' code. Between functions there is only padding.
  uint64_t begin_elf_vaddr() const { return begin_elf_vaddr_; }
  uint64_t end_elf_vaddr() const { return end_elf_vaddr_; }
  // The position of the names in the file. Each name is NUL-terminated.
  uint64_t names_file_offset() const { return layout_.file_offset + layout_.names; }
  uint64_t names_bytes() const { return layout_.units - layout_.names; }

  // Reads a function's record; cheap for rising indices. Returns nothing when the record is
  // damaged.
  std::optional<GoFunction> Function(uint32_t index);
  // Returns the index of the function at an address.
  std::optional<uint32_t> FindFunction(uint64_t elf_vaddr);
  // Returns the name at an offset, cut to kMaxNameBytes; empty when the offset is out of range.
  std::string Name(uint32_t name);
  // Returns the path of a file by its number in the function's unit; empty when there is none.
  std::string FileName(const GoFunction& function, int32_t file);

  // The tables of values, for GoValues.
  FrameBytes& values() { return values_; }
  // The first read error. After an error nothing more is found.
  Status status() const;

  static constexpr size_t kMaxNameBytes = 4096;

  // The offsets of the table's parts from its start, in rising order.
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
  // Each part has its own window, since each is read at its own pace.
  FrameBytes names_;
  FrameBytes units_;
  FrameBytes files_;
  FrameBytes values_;
  FrameBytes entries_;
  FrameBytes records_;
};

}  // namespace firetower::symbolizer
