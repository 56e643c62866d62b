// SPDX-License-Identifier: Apache-2.0
// Files that the compiler made of tests/programs/traces/context.c, by each model of thread-local
// storage. That the places are right is seen with running programs (tests/e2e/traces_test.py).
#include "daemon/runtimes/trace_symbol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "symbolizer/random_access.h"
#include "tests/unit/daemon/runtimes/file_bytes.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::BytesOf;
using Access = TraceSymbol::Access;

Result<std::optional<TraceSymbol>> Find(std::span<const std::byte> bytes) {
  symbolizer::MemorySource source(bytes);
  ASSIGN_OR_RETURN(const symbolizer::ElfFile file, symbolizer::ElfFile::Open(source));
  return FindTraceSymbol(file);
}

std::vector<std::byte> Built(const std::string& name) {
  return BytesOf(FIRETOWER_BINARY_DIR "/tests/traces/" + name);
}

TEST(TraceSymbol, TellsHowEachModelFindsTheVariable) {
  const std::pair<std::string, Access> models[] = {{"libtraces_initial.so", Access::kOffset},
                                                   {"libtraces_general.so", Access::kModuleIndex},
                                                   {"libtraces_local.so", Access::kModuleIndex},
                                                   {"libtraces_descriptor.so", Access::kDescriptor},
                                                   {"traces_program", Access::kExecutable}};
  for (const auto& [name, access] : models) {
    const std::vector<std::byte> bytes = Built(name);
    ASSERT_FALSE(bytes.empty()) << name;
    const auto found = Find(bytes);
    ASSERT_TRUE(found) << name << ": " << found.error().message();
    ASSERT_TRUE(*found) << name;
    EXPECT_EQ((*found)->access, access) << name;
    EXPECT_EQ((*found)->in_block.has_value(), name == "libtraces_local.so") << name;
    if (access == Access::kExecutable) {
      EXPECT_LT((*found)->offset, 0) << name;
      EXPECT_EQ((*found)->offset % 8, 0) << name;
    } else {
      EXPECT_GT((*found)->slot, 0) << name;
    }
  }
}

TEST(TraceSymbol, OtherFilesHaveNone) {
  for (const char* path : {"/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6"}) {
    const auto found = Find(BytesOf(path));
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_FALSE(*found) << path;
  }
}

TEST(TraceSymbol, SurvivesFilesThatAreCutOrDamaged) {
  const std::vector<std::byte> whole = Built("libtraces_descriptor.so");
  ASSERT_FALSE(whole.empty());
  for (size_t size = 0; size < whole.size(); size += 61) (void)Find(std::span(whole).first(size));
  std::vector<std::byte> damaged = whole;
  size_t unlike = 0;
  for (size_t i = 0; i < damaged.size(); i += 7) {
    damaged[i] ^= std::byte{0xff};
    const auto found = Find(damaged);
    unlike += !found || !*found;
    damaged[i] ^= std::byte{0xff};
  }
  EXPECT_GT(unlike, 0u) << "some damage is of what was read";
}

}  // namespace
}  // namespace firetower::daemon
