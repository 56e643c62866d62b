// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/compiled_code.h"

#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

constexpr uint32_t kPhp = 20, kRuby = 21;

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

class CompiledCodeTest : public ::testing::Test {
 protected:
  CompiledCodeTest() {
    ft_interpreter php{};
    php.php.runtime_kind = FT_RUNTIME_PHP;
    php.php.body = 0x5040;
    compiled_code_.AddLibrary(kPhp, php);
    ft_interpreter ruby{};
    ruby.ruby.runtime_kind = FT_RUNTIME_RUBY;
    ruby.ruby.loop = 0x6000;
    compiled_code_.AddLibrary(kRuby, ruby);
  }

  const ProcessMapping code_ = Mapping(0x400000, 0x8000, 0x1000, kPhp);
  const ProcessMapping compiled_ =
      Mapping(0x48000000, 0x4000000, 0x8000000, ModuleRegistry::kJit, "/dev/zero (deleted)");
  const ProcessMapping regex_ = Mapping(0x7f0000000000, 0x10000, 0, ModuleRegistry::kJit);
  CompiledCode compiled_code_;
};

TEST_F(CompiledCodeTest, FindsTheSharedMemoryAndTheLoop) {
  const auto machine = compiled_code_.Find({code_, compiled_, regex_});
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->kind, uint32_t{FT_MACHINE_PHP});
  EXPECT_EQ(machine->low, 0x48000000u);
  EXPECT_EQ(machine->bytes, 0x4000000u);
  EXPECT_EQ(machine->builtins, 0x404040u);
  EXPECT_EQ(machine->builtins_bytes, 0u);
}

TEST_F(CompiledCodeTest, FindsRubysInMemoryOfItsOwn) {
  const ProcessMapping library = Mapping(0x500000, 0x8000, 0x1000, kRuby);
  const ProcessMapping code = Mapping(0x7e0000000000, 0x4000000, 0, ModuleRegistry::kJit);
  const auto machine = compiled_code_.Find({library, code, regex_, compiled_});
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->kind, uint32_t{FT_MACHINE_RUBY});
  EXPECT_EQ(machine->module, kRuby);
  EXPECT_EQ(machine->low, 0x7e0000000000u);
  EXPECT_EQ(machine->builtins, 0x505000u);
}

TEST_F(CompiledCodeTest, FindsNothingInOtherProcesses) {
  EXPECT_FALSE(compiled_code_.Find({code_, regex_})) << "only regular expressions are compiled";
  EXPECT_FALSE(compiled_code_.Find({compiled_})) << "no PHP";
  compiled_code_.ForgetLibrary(kPhp);
  EXPECT_FALSE(compiled_code_.Find({code_, compiled_}));
}

}  // namespace
}  // namespace firetower::daemon
