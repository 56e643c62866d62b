// SPDX-License-Identifier: Apache-2.0
#include "profile/select/prune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "profile/builder.h"
#include "profile/export.h"
#include "profile/pprof.h"
#include "tests/support/command.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::HaveCommand;
using ::firetower::testing::RunCommand;
using ::firetower::testing::ScratchFolder;

// Stacks from the root on; a name behind '+' is inlined into the one before it.
using Stack = std::vector<std::string>;

Profile Make(const std::vector<Stack>& stacks, std::string drop, std::string keep) {
  Meta meta;
  meta.sample_types = {{"samples", "count"}};
  meta.drop_frames = std::move(drop);
  meta.keep_frames = std::move(keep);
  ProfileBuilder builder(std::move(meta));
  const uint32_t app = builder.AddMapping(
      {.memory_start = 0x1000, .memory_limit = 0x9000, .filename = builder.AddString("/app")});
  uint64_t address = 0x1000;
  int64_t value = 1;
  for (const Stack& stack : stacks) {
    std::vector<uint32_t> locations;
    std::vector<Line> lines;
    for (size_t i = stack.size(); i-- > 0;) {
      const bool inlined = stack[i].starts_with('+');
      const std::string name = stack[i].substr(inlined ? 1 : 0);
      lines.push_back({.function = builder.AddFunction(name, name, "")});
      if (inlined) continue;
      locations.push_back(builder.AddLocation(app, address += 16, lines));
      lines.clear();
    }
    EXPECT_TRUE(builder.AddSample(locations, {&value, 1}));
    value *= 2;
  }
  return std::move(builder).Build();
}

struct Case {
  const char* drop;
  const char* keep;
};

const std::vector<Stack> kStacks = {
    {"main", "work", "malloc", "sbrk"},
    {"main", "malloc(unsigned long)", "work"},
    {"malloc", "main", "work"},
    {"malloc", "malloc", "free"},
    {"main", "work", "+malloc", "+inner", "leaf"},
    {"main", "work", "+outer", "+malloc", "leaf", "malloc"},
    {"work", "+malloc", "main", "leaf"},
    {"main", ".malloc", "leaf"},
    {"main", "(anonymous namespace)::malloc(int)", "leaf"},
    {"main", "Call::operator()(int) const", "leaf"},
    {"main", "mallocs", "leaf"},
    {"main", "keep_malloc", "malloc", "keep_malloc"},
    {"main", "", "malloc"},
    {"main", "malloc", "work", "malloc", "leaf"},
};

const Case kCases[] = {
    {"malloc", ""},
    {"malloc|free", ""},
    {".*malloc", "keep_.*"},
    {".*malloc", "malloc|keep_malloc"},
    {"(anonymous|.anonymous namespace.::malloc)", ""},
    {"Call::operator\\(\\)", ""},
    {"main", ""},
    {".*", "main"},
    {".*", ""},
    {"a|", ""},
    {"(?i)MALLOC", ""},
    {"nothing", "malloc"},
};

TEST(PruneFrames, DropsWhatPprofDrops) {
  if (!HaveCommand("go")) GTEST_SKIP() << "no go on PATH: cannot compare with go tool pprof";
  const ScratchFolder folder;
  uint32_t changed = 0;
  for (const Case& one : kCases) {
    const Profile profile = Make(kStacks, one.drop, one.keep);
    ASSERT_TRUE(WriteFileAtomic(folder.path() + "/in.pb.gz", EncodePprof(profile)));
    const auto made =
        RunCommand("cd " + folder.path() + " && PPROF_TMPDIR=" + folder.path() +
                   " go tool pprof -symbolize=none -proto -output=out.pb.gz in.pb.gz");
    ASSERT_EQ(made.exit_code, 0) << made.output;
    const auto theirs = DecodePprof(ReadFile(folder.path() + "/out.pb.gz").value());
    ASSERT_TRUE(theirs) << theirs.error().message();
    const auto ours = PruneFrames(profile);
    ASSERT_TRUE(ours) << ours.error().message();
    EXPECT_EQ(ToFolded(ours->profile, 0, {.mark_inlined = true}),
              ToFolded(*theirs, 0, {.mark_inlined = true}))
        << one.drop << " without " << one.keep;
    EXPECT_EQ(ours->profile.meta().drop_frames, one.drop);
    changed += ours->samples;
  }
  EXPECT_GT(changed, 20u);
}

// The first rule by hand, for machines without Go.
TEST(PruneFrames, DropsAFrameAndWhatItCalled) {
  const Profile profile = Make(kStacks, "malloc", "");
  const auto pruned = PruneFrames(profile);
  ASSERT_TRUE(pruned);
  EXPECT_THAT(ToFolded(pruned->profile, 0), ::testing::HasSubstr("main;work 17"));
  EXPECT_EQ(pruned->profile.Total(0), profile.Total(0));
}

TEST(PruneFrames, RefusesWhatIsNoExpression) {
  for (const Case& one : {Case{"(", ""}, Case{"a", "["}}) {
    const auto pruned = PruneFrames(Make(kStacks, one.drop, one.keep));
    ASSERT_FALSE(pruned);
    EXPECT_EQ(pruned.error().code(), ErrorCode::kInvalid);
  }
}

}  // namespace
}  // namespace firetower::profile
