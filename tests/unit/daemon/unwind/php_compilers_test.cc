// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/php_compilers.h"

#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

constexpr uint32_t kPhp = 20;

ProcessMapping Mapping(uint64_t start, uint64_t bytes, uint64_t file_offset, uint32_t module,
                       std::string_view path = "") {
  ProcessMapping mapping;
  mapping.start = start;
  mapping.end = start + bytes;
  mapping.file_offset = file_offset;
  mapping.module = module;
  mapping.path_hash = PathHash(path);
  return mapping;
}

class PhpCompilersTest : public ::testing::Test {
 protected:
  PhpCompilersTest() {
    ft_php build{};
    build.body = 0x5040;
    compilers_.AddLibrary(kPhp, build);
  }

  const ProcessMapping code_ = Mapping(0x400000, 0x8000, 0x1000, kPhp);
  const ProcessMapping compiled_ =
      Mapping(0x48000000, 0x4000000, 0x8000000, ModuleRegistry::kJit, "/dev/zero (deleted)");
  const ProcessMapping regex_ = Mapping(0x7f0000000000, 0x10000, 0, ModuleRegistry::kJit);
  PhpCompilers compilers_;
};

TEST_F(PhpCompilersTest, FindsTheSharedMemoryAndTheLoop) {
  const auto machine = compilers_.Find({code_, compiled_, regex_});
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->kind, uint32_t{FT_MACHINE_PHP});
  EXPECT_EQ(machine->low, 0x48000000u);
  EXPECT_EQ(machine->bytes, 0x4000000u);
  EXPECT_EQ(machine->builtins, 0x404040u);
  EXPECT_EQ(machine->builtins_bytes, 0u);
}

TEST_F(PhpCompilersTest, FindsNothingInOtherProcesses) {
  EXPECT_FALSE(compilers_.Find({code_, regex_})) << "only regular expressions are compiled";
  EXPECT_FALSE(compilers_.Find({compiled_})) << "no PHP";
  compilers_.ForgetLibrary(kPhp);
  EXPECT_FALSE(compilers_.Find({code_, compiled_}));
}

}  // namespace
}  // namespace firetower::daemon
