// SPDX-License-Identifier: Apache-2.0
#include "profile/select/pgo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profile/builder.h"

namespace firetower::profile {
namespace {

using ::testing::HasSubstr;

// /app/server: main.main calls main.hot at line 12, in which main.small was inlined; it calls into
// the kernel. /app/other has more samples, but no lines.
Profile Made(const Meta& meta = CpuMeta(100, 0, 0)) {
  ProfileBuilder builder{Meta(meta)};
  const auto mapping = [&](const char* path) {
    return builder.AddMapping({.filename = builder.AddString(path)});
  };
  const uint32_t server = mapping("/app/server"), other = mapping("/app/other"),
                 kernel = mapping("[kernel]");
  const auto location = [&](uint32_t where, uint64_t address, std::vector<Line> lines) {
    return builder.AddLocation(where, address, lines);
  };
  const uint32_t main = builder.AddFunction("main.main", "main.main", "main.go", 10);
  const uint32_t hot = builder.AddFunction("main.hot(...)", "main.hot", "main.go", 20);
  const uint32_t small = builder.AddFunction("main.small", "", "main.go", 30);
  const uint32_t plain = builder.AddFunction("spin", "spin", "");
  const uint32_t entry = builder.AddFunction("do_syscall_64", "", "");
  const uint32_t stack[] = {
      location(kernel, 1, {{.function = entry}}),
      location(server, 2, {{.function = small, .line = 33}, {.function = hot, .line = 25}}),
      location(server, 3, {{.function = main, .line = 12}})};
  const uint32_t spin[] = {location(other, 4, {{.function = plain}})};
  const Label comm = builder.StringLabel("comm", "server");
  const size_t width = meta.sample_types.size();
  const int64_t seven[] = {7, 70}, ninety[] = {90, 900};
  EXPECT_TRUE(builder.AddSample(stack, {seven, width}, {&comm, 1}));
  EXPECT_TRUE(builder.AddSample(spin, {ninety, width}));
  return std::move(builder).Build();
}

TEST(ForGoPgo, TakesTheFramesOfOneBinary) {
  const auto pgo = ForGoPgo(Made(), "");
  ASSERT_TRUE(pgo) << pgo.error().message();
  EXPECT_EQ(pgo->binary, "/app/server");
  EXPECT_EQ(pgo->samples, 7);
  const Profile& profile = pgo->profile;
  ASSERT_EQ(profile.sample_count(), 1u);
  const Sample sample = profile.sample(0);
  EXPECT_TRUE(sample.labels.empty());
  ASSERT_EQ(sample.locations.size(), 2u);
  const Location inner = profile.location(sample.locations[0]);
  ASSERT_EQ(inner.lines.size(), 2u);
  EXPECT_EQ(profile.FrameName(inner, 0), "main.small");
  EXPECT_EQ(profile.FrameName(inner, 1), "main.hot") << "the linker's name, not the one for people";
  EXPECT_EQ(inner.lines[1].line, 25);
  EXPECT_EQ(profile.function(inner.lines[1].function).start_line, 20);
}

TEST(ForGoPgo, FindsTheBinaryByItsName) {
  EXPECT_TRUE(ForGoPgo(Made(), "server"));
  EXPECT_TRUE(ForGoPgo(Made(), "app/server"));
  EXPECT_TRUE(ForGoPgo(Made(), "/app/server"));
  const auto part = ForGoPgo(Made(), "erver");
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().code(), ErrorCode::kNotFound);
}

TEST(ForGoPgo, SaysWhatIsMissing) {
  const auto without = ForGoPgo(Made(), "other");
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(without.error().message(), HasSubstr("--symbols=full"));
  Meta waits;
  waits.sample_types = {{"samples", "count"}, {"off_cpu", "nanoseconds"}};
  const auto off_cpu = ForGoPgo(Made(waits), "");
  ASSERT_FALSE(off_cpu);
  EXPECT_THAT(off_cpu.error().message(), HasSubstr("only CPU profiles"));
}

}  // namespace
}  // namespace firetower::profile
