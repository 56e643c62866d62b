// SPDX-License-Identifier: Apache-2.0
#include "profile/type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::profile {
namespace {

using ::testing::ElementsAre;
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

TEST(ProfileType, TellsTheIdOfItsCountToo) {
  auto ids = [](std::string_view name) { return ParseProfileType(name)->PyroscopeIds(); };
  EXPECT_THAT(ids("cpu"), ElementsAre("process_cpu:cpu:nanoseconds:cpu:nanoseconds",
                                      "process_cpu:samples:count:cpu:nanoseconds"));
  EXPECT_THAT(ids("offcpu"),
              ElementsAre("off_cpu:off_cpu:nanoseconds::", "off_cpu:samples:count::"));
  EXPECT_THAT(ids("lock"), ElementsAre("mutex:delay:nanoseconds:contentions:count",
                                       "mutex:contentions:count:contentions:count"));
  EXPECT_THAT(ids("memory"), ElementsAre("memory:alloc_space:bytes:space:bytes",
                                         "memory:alloc_objects:count:space:bytes"));
  EXPECT_THAT(ids("event:page-faults"), ElementsAre("event:page-faults:events:count:event:count"));
}

TEST(ProfileType, SplitsIdsFromBehind) {
  PyroscopeIdParts parts = SplitPyroscopeId("event:sched:sched_switch:events:count:event:count");
  EXPECT_EQ(parts.name, "event:sched:sched_switch");
  EXPECT_EQ(parts.sample_type, (ValueType{"events", "count"}));
  EXPECT_EQ(parts.period_type, (ValueType{"event", "count"}));
  parts = SplitPyroscopeId("off_cpu:off_cpu:nanoseconds::");
  EXPECT_EQ(parts.name, "off_cpu");
  EXPECT_EQ(parts.sample_type, (ValueType{"off_cpu", "nanoseconds"}));
  EXPECT_EQ(parts.period_type, ValueType{});
  EXPECT_EQ(SplitPyroscopeId("b:c").period_type, (ValueType{"b", "c"}));
  EXPECT_EQ(SplitPyroscopeId("").name, "");
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
  EXPECT_EQ(ParseProfileType("lock")->MainValue(), (ValueType{"delay", "nanoseconds"}));
  EXPECT_EQ(ParseProfileType("memory")->SampleTypes().back(), (ValueType{"inuse_space", "bytes"}));
  EXPECT_EQ(ParseProfileType("memory")->MainValue(), (ValueType{"alloc_space", "bytes"}));
  EXPECT_EQ(*ParseTypeSelection("memory:inuse_space"),
            (TypeSelection{{.kind = TypeKind::kMemory}, "inuse_space"}));
  EXPECT_FALSE(ParseTypeSelection("memory:cpu"));
  EXPECT_FALSE(ParseTypeSelection("event:"));
}

}  // namespace
}  // namespace firetower::profile
