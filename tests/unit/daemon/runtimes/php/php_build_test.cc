// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/php/php_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "symbolizer/random_access.h"
#include "tests/unit/daemon/runtimes/file_bytes.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::BytesOf;
using ::firetower::testing::OutputOf;
using ::firetower::testing::Replace;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPhp = "/usr/bin/php";

Result<FoundPhp> Find(std::span<const std::byte> bytes) {
  symbolizer::MemorySource source(bytes);
  ASSIGN_OR_RETURN(const symbolizer::ElfFile file, symbolizer::ElfFile::Open(source));
  return FindPhp(file);
}

// The PHP of this machine, which hack/bootstrap --tests installs.
class PhpBuildTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_FALSE(bytes_.empty()) << kPhp << " is not here"; }

  std::vector<std::byte> bytes_ = BytesOf(kPhp);
};

TEST_F(PhpBuildTest, FindsTheSystemsPhp) {
  const auto found = Find(bytes_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, OutputOf(std::string(kPhp) +
                                     " -r 'echo PHP_MAJOR_VERSION, \".\", PHP_MINOR_VERSION;'"));
  EXPECT_THAT(found->why, IsEmpty());
  ASSERT_TRUE(found->build);
  const ft_php& build = *found->build;
  EXPECT_EQ(build.runtime_kind, FT_RUNTIME_PHP);
  EXPECT_LE(build.first_line + 4, FT_PHP_FUNCTION_BYTES);
  EXPECT_GT(build.body, build.loop);
  EXPECT_LT(build.body, build.loop + build.loop_bytes);
}

TEST_F(PhpBuildTest, FindsThePartOfTheLoopThatIsSetApart) {
  const auto found = Find(bytes_);
  ASSERT_TRUE(found && found->build);
  const ft_php& build = *found->build;
  // Debian's builds of 7.4 to 8.5 have 2 to 3 KB of it, before the loop.
  EXPECT_GT(build.cold_bytes, 1000u);
  EXPECT_LT(build.cold_bytes, 10'000u);
  EXPECT_LT(build.cold + build.cold_bytes, build.loop);
}

TEST_F(PhpBuildTest, RefusesAVersionThatItDoesNotKnow) {
  const auto system = Find(bytes_);
  ASSERT_TRUE(system);
  Replace(bytes_, "PHP/" + system->version + ".", "PHP/9.9.");
  const auto found = Find(bytes_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, "9.9");
  EXPECT_FALSE(found->build);
  EXPECT_THAT(found->why, HasSubstr("those of 7.4 to 8.5"));
}

TEST_F(PhpBuildTest, RefusesABuildWithThreads) {
  using std::string_view_literals::operator""sv;
  // Its globals are each thread's own.
  Replace(bytes_, "\0executor_globals\0"sv, "\0executor_globalz\0"sv);
  const auto found = Find(bytes_);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->build);
  EXPECT_THAT(found->why, HasSubstr("ZTS"));
}

TEST_F(PhpBuildTest, LooksAtACutFileWithoutHarm) {
  for (size_t size = 0; size < bytes_.size(); size += bytes_.size() / 61) {
    const auto found = Find(std::span(bytes_).first(size));
    EXPECT_TRUE(!found || !found->build) << size;
  }
}

TEST(FindPhp, LeavesOtherFilesAlone) {
  const auto found = Find(BytesOf("/usr/bin/python3"));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->version, IsEmpty());
}

}  // namespace
}  // namespace firetower::daemon
