// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "symbolizer/go/pclntab.h"
#include "tests/unit/symbolizer/support/cfi_builder.h"

namespace firetower::symbolizer {

// (value, bytes of code it holds for), as cmd/link writes them to runtime.pctab.
using GoValueList = std::vector<std::pair<int32_t, uint32_t>>;

// An entry of the inline tree: a call that stands in the function's code.
struct TestInlinedCall {
  std::string name{};
  int32_t parent_pc = 0;  // from the function's begin
  // Before Go 1.20 the entry names its parent and the place of the call, too.
  int16_t parent = -1;
};

struct TestGoFunction {
  std::string name{};
  std::string code;  // its size is the function's
  GoValueList depths{};
  GoValueList files{};  // indices in TestGoFile::files
  GoValueList lines{};
  GoValueList inlined{};  // indices in `tree`
  std::vector<TestInlinedCall> tree{};
  uint8_t flags = 0;
};

// A small Go program, byte by byte after runtime/symtab.go and runtime/runtime2.go of the Go
// version: code, .gopclntab and what the runtime's module data say of them.
class TestGoFile {
 public:
  using Version = Pclntab::Version;
  static constexpr uint64_t kCode = 0x401000;
  static constexpr uint64_t kTable = 0x404000;
  static constexpr uint64_t kFuncdata = 0x407000;
  static constexpr uint64_t kData = 0x408000;  // writable from here on
  static constexpr uint64_t kRelocations = 0x40a000;
  static constexpr uint64_t kEhFrame = 0x40c000;
  static constexpr uint64_t kDebugFrame = 0x40d000;

  explicit TestGoFile(Version version) : version_(version) {}

  // Addresses in the order of adding, the first at kCode; 16 bytes apart at least, int3 between.
  uint64_t Add(const TestGoFunction& function);
  void SetFiles(std::vector<std::string> files) { files_ = std::move(files); }
  // Pointers are relocations, and nothing is in their place.
  void MakePositionIndependent() { relocated_ = true; }
  void LeaveOutSectionHeaders() { section_headers_ = false; }
  void LeaveOutModuleData() { module_data_ = false; }
  // Go 1.26 and newer omit it.
  void LeaveOutTextStart() { text_start_ = false; }
  void AddFrames(FrameBuilder::Format format, const std::string& bytes);

  std::string Build() const { return BuildAround(BuildTable(), BuildFuncdata()); }
  // The table and the inline trees alone, and a file with others in their place, cut where there is
  // no more room for them.
  std::string BuildTable() const;
  std::string BuildFuncdata() const;
  std::string BuildAround(const std::string& table, const std::string& funcdata) const;

 private:
  struct Placed {
    uint64_t elf_vaddr;
    TestGoFunction function;
  };
  std::string Funcdata(std::vector<uint32_t>& trees) const;

  Version version_;
  std::vector<Placed> functions_;
  std::vector<std::string> files_ = {"/src/main.go"};
  std::string eh_frame_;
  std::string debug_frame_;
  bool relocated_ = false;
  bool section_headers_ = true;
  bool module_data_ = true;
  bool text_start_ = true;
};

// For suites that run with each version: "Go118" behind a test's name.
inline std::string VersionName(const ::testing::TestParamInfo<TestGoFile::Version>& instance) {
  switch (instance.param) {
    case TestGoFile::Version::kGo116:
      return "Go116";
    case TestGoFile::Version::kGo118:
      return "Go118";
    case TestGoFile::Version::kGo120:
      return "Go120";
  }
  return "unknown";
}

}  // namespace firetower::symbolizer
