// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/php/php_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "symbolizer/elf/symbols/function_finder.h"
#include "symbolizer/random_access.h"

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPhp = "/usr/bin/php";

std::vector<std::byte> BytesOf(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

Result<FoundPhp> Find(std::span<const std::byte> bytes) {
  symbolizer::MemorySource source(bytes);
  ASSIGN_OR_RETURN(const symbolizer::ElfFile file, symbolizer::ElfFile::Open(source));
  return FindPhp(file);
}

std::string OutputOf(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  std::array<char, 256> buffer{};
  while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr)
    output += buffer.data();
  return output;
}

// Replaces each place of `from` by `to`, of the same size.
void Replace(std::vector<std::byte>& bytes, std::string_view from, std::string_view to) {
  ASSERT_EQ(from.size(), to.size());
  const auto* what = reinterpret_cast<const std::byte*>(from.data());
  const auto* with = reinterpret_cast<const std::byte*>(to.data());
  auto at = std::search(bytes.begin(), bytes.end(), what, what + from.size());
  ASSERT_NE(at, bytes.end());
  while (at != bytes.end()) {
    std::copy(with, with + to.size(), at);
    at = std::search(at + 1, bytes.end(), what, what + from.size());
  }
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
