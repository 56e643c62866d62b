// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/ruby/ruby_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
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

Result<FoundRuby> Find(std::span<const std::byte> bytes) {
  symbolizer::MemorySource source(bytes);
  ASSIGN_OR_RETURN(const symbolizer::ElfFile file, symbolizer::ElfFile::Open(source));
  return FindRuby(file);
}

// The library of this machine's Ruby, which hack/bootstrap --tests installs.
std::string Library() {
  for (const auto& file : std::filesystem::directory_iterator("/usr/lib/x86_64-linux-gnu")) {
    if (file.path().filename().string().starts_with("libruby")) return file.path();
  }
  return "";
}

class RubyBuildTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_FALSE(bytes_.empty()) << "libruby is not here"; }

  std::vector<std::byte> bytes_ = BytesOf(Library());
};

TEST_F(RubyBuildTest, FindsTheSystemsRuby) {
  const auto found = Find(bytes_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, OutputOf("ruby -e 'print RUBY_VERSION[/^[0-9]+.[0-9]+/]'"));
  EXPECT_THAT(found->why, IsEmpty());
  ASSERT_TRUE(found->build);
  const ft_ruby& build = *found->build;
  EXPECT_EQ(build.runtime_kind, FT_RUNTIME_RUBY);
  EXPECT_LE(build.lines + 32, FT_RUBY_BODY_BYTES);
  EXPECT_GT(build.slots, 0u);
  // The loop calls its core, and is smaller; a part of the core is set apart.
  EXPECT_GT(build.core_bytes, 10'000u);
  EXPECT_LT(build.loop_bytes, 4000u);
  EXPECT_GT(build.cold_bytes, 0u);
  EXPECT_LT(build.cold_bytes, 1000u);
}

TEST_F(RubyBuildTest, RefusesAVersionThatItDoesNotKnow) {
  const auto system = Find(bytes_);
  ASSERT_TRUE(system);
  const std::string old = '\0' + system->version + ".";
  Replace(bytes_, old, std::string(1, '\0') + "9.9.");
  const auto found = Find(bytes_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, "9.9");
  EXPECT_FALSE(found->build);
  EXPECT_THAT(found->why, HasSubstr("those of 2.7 to 3.4"));
}

TEST_F(RubyBuildTest, LooksAtACutFileWithoutHarm) {
  for (size_t size = 0; size < bytes_.size(); size += bytes_.size() / 61) {
    const auto found = Find(std::span(bytes_).first(size));
    EXPECT_TRUE(!found || !found->build) << size;
  }
}

TEST(FindRuby, LeavesOtherFilesAlone) {
  const auto found = Find(BytesOf("/usr/bin/python3"));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->version, IsEmpty());
}

}  // namespace
}  // namespace firetower::daemon
