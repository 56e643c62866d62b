// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbolizer/random_access.h"

namespace firetower::symbolizer {

// The headers of a 64-bit little-endian ELF file, executable or shared object. Each header is
// checked against the source's size before use. A file may have no sections.
class ElfFile {
 public:
  // A file beyond these limits is refused (kExhausted). The largest values seen are 14 and 3,000.
  static constexpr size_t kMaxProgramHeaders = 1024;
  static constexpr size_t kMaxSections = 65'536;

  // `source` must outlive the result.
  static Result<ElfFile> Open(const RandomAccess& source);

  const RandomAccess& source() const { return *source_; }
  uint16_t type() const { return type_; }
  uint16_t machine() const { return machine_; }
  const std::vector<Elf64_Phdr>& program_headers() const { return program_headers_; }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  // Returns the first section of that name with bytes in the file; null if there is none.
  const Elf64_Shdr* FindSection(std::string_view name) const;
  // Tells whether all bytes of the section are in the file.
  bool SectionInFile(const Elf64_Shdr& section) const;

 private:
  explicit ElfFile(const RandomAccess& source) : source_(&source) {}
  Status ReadProgramHeaders(const Elf64_Ehdr& header, uint32_t count);
  Status ReadSections(const Elf64_Ehdr& header, const Elf64_Shdr& first);

  const RandomAccess* source_;
  uint16_t type_ = 0;
  uint16_t machine_ = 0;
  std::vector<Elf64_Phdr> program_headers_;
  std::vector<Elf64_Shdr> sections_;
  std::string section_names_;
};

}  // namespace firetower::symbolizer
