// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace firetower::symbolizer {

// Bytes in the order of writing, as DWARF 5, 7.5 and 7.6 encode them.
class CfiBytes {
 public:
  CfiBytes& U8(uint64_t value) { return Number(value, 1); }
  CfiBytes& U16(uint64_t value) { return Number(value, 2); }
  CfiBytes& U32(uint64_t value) { return Number(value, 4); }
  CfiBytes& U64(uint64_t value) { return Number(value, 8); }
  CfiBytes& Uleb(uint64_t value);
  CfiBytes& Sleb(int64_t value);
  CfiBytes& Raw(std::string_view bytes);
  // A block: its length as ULEB128, then itself.
  CfiBytes& Block(const CfiBytes& bytes) { return Uleb(bytes.size()).Raw(bytes.str()); }

  const std::string& str() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

 private:
  CfiBytes& Number(uint64_t value, size_t count);
  std::string bytes_;
};

// "zR" with pc-relative 4-byte addresses, CFA = RSP + 8, the return address below it: the CIE that
// GCC and LLVM write for x86-64.
struct TestCie {
  uint8_t version = 1;
  std::string augmentation = "zR";
  CfiBytes augmentation_data = CfiBytes().U8(0x1b);
  uint64_t code_alignment = 1;
  int64_t data_alignment = -8;
  uint64_t return_register = 16;
  CfiBytes initial = CfiBytes().Raw("\x0c\x07\x08\x90\x01");
  bool dwarf64 = false;
  uint8_t address_bytes = 8;  // version 4
  uint8_t segment_bytes = 0;  // version 4
};

// The bytes of .eh_frame or .debug_frame (LSB Core, "Exception Frames"; DWARF 5, 6.4.1).
class FrameBuilder {
 public:
  enum class Format { kEhFrame, kDebugFrame };
  FrameBuilder(Format format, uint64_t elf_vaddr) : format_(format), elf_vaddr_(elf_vaddr) {}

  // Returns the CIE's offset. FDEs that follow use it.
  uint64_t AddCie(const TestCie& cie = {});
  // Its address is written as the CIE's augmentation data say (in .debug_frame, as is). The first
  // byte of `augmentation_data` comes behind its length; unused if the CIE has no 'z'.
  void AddFde(uint64_t begin_elf_vaddr, uint64_t bytes, const CfiBytes& program,
              const CfiBytes& augmentation_data = {});
  // An FDE of the last CIE whose address and length are given as they are to be stored.
  void AddRawFde(const CfiBytes& range_and_rest, uint64_t cie_offset);
  void AddRaw(const CfiBytes& bytes) { bytes_.Raw(bytes.str()); }
  uint64_t last_cie() const { return last_cie_; }

  // Returns the address of the next record's bytes behind its id.
  uint64_t next_body_elf_vaddr() const;
  const std::string& str() const { return bytes_.str(); }

 private:
  void AddRecord(bool is_cie, uint64_t cie_offset, const CfiBytes& body);

  Format format_;
  uint64_t elf_vaddr_;
  CfiBytes bytes_;
  TestCie cie_;
  uint64_t last_cie_ = 0;
};

// A 64-bit ELF file with one PT_LOAD over everything. File offset = elf_vaddr - kImageElfVaddr.
class FrameFile {
 public:
  static constexpr uint64_t kImageElfVaddr = 0x400000;
  static constexpr uint64_t kEhFrame = kImageElfVaddr + 0x8000;
  static constexpr uint64_t kDebugFrame = kImageElfVaddr + 0xc000;
  static constexpr uint64_t kEhFrameHeader = kImageElfVaddr + 0x400;

  void AddSection(std::string_view name, uint64_t elf_vaddr, const std::string& bytes,
                  uint64_t flags = 0);
  // PT_GNU_EH_FRAME.
  void SetEhFrameHeader(const std::string& bytes) { eh_frame_header_ = bytes; }
  void LeaveOutSectionHeaders() { section_headers_ = false; }
  void SetMachine(uint16_t machine) { machine_ = machine; }
  std::string Build() const;

 private:
  struct Section {
    std::string name;
    uint64_t elf_vaddr;
    std::string bytes;
    uint64_t flags;
  };
  std::vector<Section> sections_;
  std::string eh_frame_header_;
  bool section_headers_ = true;
  uint16_t machine_ = 62;  // EM_X86_64
};

// A file with that .eh_frame.
std::string FileWithEhFrame(const FrameBuilder& frames);

}  // namespace firetower::symbolizer
