// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/perl/perl_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "daemon/runtimes/elf_values.h"
#include "symbolizer/elf/symbols/function_finder.h"
#include "symbolizer/random_access.h"
#include "tests/unit/daemon/runtimes/file_bytes.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::BytesOf;
using ::firetower::testing::OutputOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<FoundPerl> Find(std::span<const std::byte> bytes) {
  symbolizer::MemorySource source(bytes);
  ASSIGN_OR_RETURN(const symbolizer::ElfFile file, symbolizer::ElfFile::Open(source));
  return FindPerl(file);
}

// Returns where the file has a variable of a byte.
Result<uint64_t> OffsetOf(std::span<const std::byte> bytes, std::string_view symbol) {
  symbolizer::MemorySource source(bytes);
  ASSIGN_OR_RETURN(const symbolizer::ElfFile file, symbolizer::ElfFile::Open(source));
  const std::array names = {symbol};
  ASSIGN_OR_RETURN(const auto found, symbolizer::FindSymbols(file, SHT_DYNSYM, names));
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type == PT_LOAD && found.at(0).value - segment.p_vaddr < segment.p_filesz)
      return found.at(0).value - segment.p_vaddr + segment.p_offset;
  }
  return Error(ErrorCode::kNotFound, "no segment has it");
}

class PerlBuildTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_FALSE(bytes_.empty()) << "/usr/bin/perl is not here"; }

  std::vector<std::byte> bytes_ = BytesOf("/usr/bin/perl");
};

TEST_F(PerlBuildTest, FindsTheSystemsPerl) {
  const auto found = Find(bytes_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, OutputOf("perl -MConfig -e 'print \"5.$Config{PERL_VERSION}\"'"));
  EXPECT_THAT(found->why, IsEmpty());
  ASSERT_TRUE(found->build);
  const ft_perl& build = *found->build;
  EXPECT_EQ(build.runtime_kind, FT_RUNTIME_PERL);
  EXPECT_LT(build.loop_bytes, 500u);
  EXPECT_NE(build.core, build.loop);
  // docatch() saves a jump buffer and runs a loop: some hundred bytes, not a whole interpreter.
  EXPECT_GT(build.core_bytes, 100u);
  EXPECT_LT(build.core_bytes, 2000u);
}

TEST_F(PerlBuildTest, RefusesAVersionThatItDoesNotKnow) {
  const auto at = OffsetOf(bytes_, "PL_version");
  ASSERT_TRUE(at);
  bytes_[*at] = std::byte{99};
  const auto found = Find(bytes_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, "5.99");
  EXPECT_FALSE(found->build);
  EXPECT_THAT(found->why, HasSubstr("those of 5.32 to 5.42"));
}

TEST_F(PerlBuildTest, SaysWhereItIsBuiltWithoutThreads) {
  testing::Replace(bytes_, "PL_thr_key", "PL_xxx_key");
  const auto found = Find(bytes_);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->build);
  EXPECT_THAT(found->why, HasSubstr("without ithreads"));
}

TEST_F(PerlBuildTest, FindsTheSameByCodeWhereOperationsAreNotExported) {
  const auto exported = Find(bytes_);
  testing::Replace(bytes_, "Perl_pp_entertry", "Perl_xx_entertry");
  const auto found = Find(bytes_);
  ASSERT_TRUE(exported && exported->build && found && found->build) << found->why;
  EXPECT_EQ(found->build->core, exported->build->core);
}

TEST_F(PerlBuildTest, LooksAtACutFileWithoutHarm) {
  for (size_t size = 0; size < bytes_.size(); size += bytes_.size() / 61) {
    const auto found = Find(std::span(bytes_).first(size));
    EXPECT_TRUE(!found || !found->build) << size;
  }
}

TEST(FindPerl, LeavesOtherFilesAlone) {
  const auto found = Find(BytesOf("/usr/bin/python3"));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->version, IsEmpty());
}

}  // namespace
}  // namespace firetower::daemon
