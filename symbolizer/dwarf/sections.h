// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbolizer/cfi/frame_bytes.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::symbolizer::dwarf {

// Limits for reading one file's debug information.
struct DwarfLimits {
  uint64_t max_unpacked_bytes = 16u << 20;  // compressed sections are held unpacked: all together
  uint64_t max_unit_bytes = 256u << 20;  // of .debug_info or .debug_line: larger ones are left out
  uint32_t max_units = 1u << 20;         // 40 bytes each
  uint32_t max_scopes = 1u << 21;        // functions and inlined calls of a unit, and their ranges
  uint32_t max_rows = 1u << 24;          // lines of a unit: 12 bytes each
};

// One section: a piece of the file, or its unpacked bytes.
class Section {
 public:
  Section() = default;
  Section(const RandomAccess& source, uint64_t file_offset, uint64_t size);
  explicit Section(std::vector<std::byte> unpacked);

  uint64_t size() const { return size_; }
  // The bytes held in memory permanently.
  size_t held_bytes() const;
  // Returns a part of the section. Reads it into `buffer` unless the section is in memory.
  // kCorrupt: the section ends earlier.
  Result<std::span<const std::byte>> Read(uint64_t offset, uint64_t length,
                                          std::vector<std::byte>& buffer) const;
  // Returns up to `length` bytes, for small reads near each other; fewer, or none, where the
  // section ends or cannot be read. Valid until the next call.
  std::span<const std::byte> Peek(uint64_t offset, size_t length);
  // Returns the text at an offset without its NUL, cut at kMaxTextBytes.
  std::string_view Text(uint64_t offset);
  // Frees the windows of Peek.
  void Forget() { window_.reset(); }

  static constexpr size_t kMaxTextBytes = 16u << 10;

 private:
  const RandomAccess* source_ = nullptr;
  uint64_t file_offset_ = 0;
  uint64_t size_ = 0;
  // Shared, so that a Section can be moved while the source points into it.
  std::shared_ptr<const std::vector<std::byte>> unpacked_;
  std::unique_ptr<FrameBytes> window_;
};

// The sections of debug information; those that a file lacks are empty.
struct Sections {
  Section info, abbrev, line, str, line_str, str_offsets, addr, ranges, rnglists, aranges;

  // Finds the sections and unpacks compressed ones (gABI, "Compression Header"). kNotFound:
  // .debug_info or .debug_abbrev is missing. `file`'s source must outlive the result.
  static Result<Sections> Open(const ElfFile& file, const DwarfLimits& limits);
  size_t held_bytes() const;
  void Forget();
};

}  // namespace firetower::symbolizer::dwarf
