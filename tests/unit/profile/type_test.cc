// SPDX-License-Identifier: Apache-2.0
#include "profile/type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::profile {
namespace {

using ::testing::HasSubstr;

TEST(ProfileType, ReadsItsOwnSpelling) {
  for (const char* name :
       {"cpu", "offcpu", "lock", "memory", "event:page-faults", "event:sched:sched_switch"}) {
    auto type = ParseProfileType(name);
    ASSERT_TRUE(type) << type.error().message();
    EXPECT_EQ(type->Name(), name);
    auto again = ParseTypeSelection(type->PyroscopeId());
    ASSERT_TRUE(again) << type->PyroscopeId();
    EXPECT_EQ(again->type, *type);
    EXPECT_EQ(again->sample_type, "");
  }
}

TEST(ProfileType, ReadsPyroscopesIds) {
  auto select = [](std::string_view id) {
    auto selection = ParseTypeSelection(id);
    return selection ? selection->type.Name() + "/" + selection->sample_type
                     : selection.error().message();
  };
  EXPECT_EQ(select("process_cpu:cpu:nanoseconds:cpu:nanoseconds"), "cpu/");
  EXPECT_EQ(select("process_cpu:samples:count:cpu:nanoseconds"), "cpu/samples");
  EXPECT_EQ(select("off_cpu:off_cpu:nanoseconds::"), "offcpu/");
  EXPECT_EQ(select("mutex:contentions:count:contentions:count"), "lock/contentions");
  EXPECT_EQ(select("block:delay:nanoseconds:contentions:count"), "lock/");
  EXPECT_EQ(select("memory:inuse_space:bytes:space:bytes"), "memory/inuse_space");
}

TEST(ProfileType, SuggestsTheNearest) {
  auto error = [](std::string_view text) { return ParseProfileType(text).error().message(); };
  EXPECT_THAT(error("off-cpu"), HasSubstr("did you mean 'offcpu'?"));
  EXPECT_THAT(error("memry"), HasSubstr("did you mean 'memory'?"));
  EXPECT_THAT(error("zebra"), HasSubstr("allowed are cpu, offcpu, lock, memory or event:<name>"));
  EXPECT_THAT(error("event:"), HasSubstr("1 to 128"));
  EXPECT_THAT(error("event:a b"), HasSubstr("1 to 128"));
}

TEST(ProfileType, NamesFilesWithoutDashesAndColons) {
  EXPECT_EQ(ParseProfileType("cpu")->FileToken(), "cpu");
  EXPECT_EQ(ParseProfileType("event:sched:sched-Switch")->FileToken(), "event.sched.sched_switch");
}

TEST(ProfileType, PutsTheCountFirst) {
  EXPECT_EQ(ParseProfileType("cpu")->SampleTypes(),
            (std::vector<ValueType>{{"samples", "count"}, {"cpu", "nanoseconds"}}));
  EXPECT_EQ(ParseProfileType("lock")->SampleTypes().front().unit, "count");
}

}  // namespace
}  // namespace firetower::profile
