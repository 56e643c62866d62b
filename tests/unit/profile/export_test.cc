// SPDX-License-Identifier: Apache-2.0
#include "profile/export.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profile/selector.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;

Profile WithKernelFrame() {
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  Line line{.function = builder.AddFunction("do_syscall_64", "", "")};
  uint32_t stack[] = {builder.AddLocation(kNoMapping, 0xffffffff81000000, {&line, 1}),
                      stacks.Frame("main")};
  int64_t values[] = {4, 40};
  builder.AddSample(stack, values);
  return stacks.Build();
}

TEST(Folded, WritesRootFirstAndSortsAndSums) {
  Profile profile = StackBuilder()
                        .Add({"main", "b"}, 2, {{"thread", "1"}})
                        .Add({"main", "b"}, 3, {{"thread", "2"}})
                        .Add({"main", "a"}, 1)
                        .Build();
  EXPECT_EQ(ToFolded(profile, 0), "main;a 1\nmain;b 5\n");
  EXPECT_EQ(ToFolded(profile, 1), "main;a 10000000\nmain;b 50000000\n");
}

TEST(Folded, MarksKernelFramesOnlyWhenAsked) {
  EXPECT_EQ(ToFolded(WithKernelFrame(), 0), "main;do_syscall_64 4\n");
  EXPECT_EQ(ToFolded(WithKernelFrame(), 0, {.mark_kernel = true}), "main;do_syscall_64_[k] 4\n");
}

TEST(Folded, KeepsSeparatorsOutOfNames) {
  Profile profile = StackBuilder().Add({"main", "evil;name\nline"}, 1).Build();
  EXPECT_EQ(ToFolded(profile, 0), "main;evil:name line 1\n");
}

TEST(Json, HasTheDocumentedMembers) {
  auto json = nlohmann::json::parse(ToJson(WithKernelFrame()));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["sample_types"][1]["type"], "cpu");
  EXPECT_EQ(json["time_ns"], "1700000000000000000");
  EXPECT_EQ(json["mappings"][0]["build_id"], "0123456789abcdef");
  const auto& sample = json["samples"][0];
  EXPECT_EQ(sample["values"], (std::vector<int64_t>{4, 40}));
  const auto& leaf = json["locations"][sample["stack"][0].get<size_t>()];
  EXPECT_EQ(leaf["address"], "0xffffffff81000000");
  EXPECT_EQ(leaf["kernel"], true);
  EXPECT_EQ(leaf["frames"][0]["function"], "do_syscall_64");
}

TEST(FilterSamples, KeepsMatchingLabels) {
  Profile profile = StackBuilder()
                        .Add({"main", "a"}, 1, {{"thread", "io"}})
                        .Add({"main", "b"}, 2, {{"thread", "net"}})
                        .Add({"main", "c"}, 4)
                        .Build();
  auto keep = [&](const char* text) {
    return FilterSamples(profile, *Selector::Parse(text)).Total(0);
  };
  EXPECT_EQ(keep("{thread=\"io\"}"), 1);
  EXPECT_EQ(keep("{thread=~\"io|net\"}"), 3);
  EXPECT_EQ(keep("{thread=\"\"}"), 4);
  EXPECT_EQ(keep(""), 7);
}

// Follows pprof, whose tagfocus keeps a sample of which any label matches, and whose tagignore
// drops it.
TEST(FilterSamples, LooksAtAllLabelsOfAKey) {
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  const uint32_t leaf = stacks.Frame("main");
  const auto add = [&](int64_t count, const std::vector<Label>& labels) {
    builder.AddSample({&leaf, 1}, std::array<int64_t, 2>{count, count}, labels);
  };
  add(1, {builder.StringLabel("tag", "a"), builder.StringLabel("tag", "b")});
  add(2, {builder.StringLabel("tag", "b"), builder.NumberLabel("tag", 7, "")});
  add(4, {builder.StringLabel("other", "b")});
  const Profile profile = stacks.Build();
  auto keep = [&](const char* text) {
    return FilterSamples(profile, *Selector::Parse(text)).Total(0);
  };
  EXPECT_EQ(keep("{tag=\"a\"}"), 1);
  EXPECT_EQ(keep("{tag=\"b\"}"), 3);
  EXPECT_EQ(keep("{tag=\"7\"}"), 2);
  EXPECT_EQ(keep("{tag=~\"b|c\"}"), 3);
  EXPECT_EQ(keep("{tag=\"a\",tag=\"b\"}"), 1);
  EXPECT_EQ(keep("{tag!=\"a\"}"), 6);
  EXPECT_EQ(keep("{tag!=\"b\"}"), 4);
  EXPECT_EQ(keep("{tag!~\"7|a\"}"), 4);
  EXPECT_EQ(keep("{tag=\"\"}"), 4);
  EXPECT_EQ(keep("{tag!=\"\"}"), 3);
}

}  // namespace
}  // namespace firetower::profile
