// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/rounds/round_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/raw_records.h"

namespace firetower::daemon {
namespace {

namespace t = ::firetower::testing;
using ::testing::ElementsAre;

t::Bytes SampleAt(uint64_t time_ns, uint64_t cgroup_id = 1) {
  ft_sample sample{};
  sample.time_ns = time_ns;
  sample.cgroup_id = cgroup_id;
  sample.kind = FT_KIND_SAMPLE;
  return t::RingSample(sample);
}

std::vector<uint64_t> SampleTimes(const Round& round) {
  std::vector<uint64_t> times;
  for (const ft_sample& sample : round.samples) times.push_back(sample.time_ns);
  return times;
}

std::vector<std::string> SidebandTexts(const Round& round) {
  std::vector<std::string> texts;
  for (const SidebandEvent& event : round.sideband) {
    texts.emplace_back(round.Text(event.text_begin, event.text_size));
  }
  return texts;
}

std::vector<std::string> CgroupPaths(const Round& round) {
  std::vector<std::string> paths;
  for (const CgroupEvent& event : round.cgroup_events) {
    paths.emplace_back(round.Text(event.text_begin, event.text_size));
  }
  return paths;
}

TEST(RoundBuilder, OrdersEachListAcrossCpus) {
  RoundBuilder builder;
  Round round;
  builder.Begin(round);
  for (uint64_t time : {30u, 50u, 10u, 40u, 20u}) builder.OnRecord(SampleAt(time));
  // Two CPUs' rings, drained one after the other.
  builder.OnSideband(t::PerfComm(1, 1, "third", false, 30));
  builder.OnSideband(t::PerfComm(1, 1, "fourth", false, 40));
  builder.OnSideband(t::PerfComm(2, 2, "first", false, 10));
  builder.OnSideband(t::PerfComm(2, 2, "second", true, 20));
  builder.OnRecord(t::RingCgroup(FT_CGROUP_RMDIR, 8, "/b", 25));
  builder.OnRecord(t::RingCgroup(FT_CGROUP_MKDIR, 8, "/a", 15));
  builder.Finish(100);
  EXPECT_THAT(SampleTimes(round), ElementsAre(10, 20, 30, 40, 50));
  EXPECT_THAT(SidebandTexts(round), ElementsAre("first", "second", "third", "fourth"));
  EXPECT_THAT(CgroupPaths(round), ElementsAre("/a", "/b"));
  EXPECT_EQ(round.horizon_ns, 100);
  EXPECT_EQ(round.bad_records, 0u);
}

TEST(RoundBuilder, KeepsTheOrderOfOneRingWithinANanosecond) {
  RoundBuilder builder;
  Round round;
  builder.Begin(round);
  builder.OnSideband(t::PerfComm(9, 9, "late", false, 7));
  for (const char* name : {"a", "b", "c", "d"}) {
    builder.OnSideband(t::PerfComm(1, 1, name, false, 5));
  }
  builder.Finish(100);
  EXPECT_THAT(SidebandTexts(round), ElementsAre("a", "b", "c", "d", "late"));
}

TEST(RoundBuilder, HoldsBackWhatIsNewerThanTheHorizonWithItsText) {
  RoundBuilder builder;
  Round first;
  builder.Begin(first);
  builder.OnRecord(SampleAt(10));
  builder.OnRecord(SampleAt(101));
  builder.OnRecord(SampleAt(100));
  builder.OnSideband(t::PerfComm(1, 1, "newer", false, 150));
  builder.OnSideband(t::PerfComm(1, 1, "older", false, 50));
  builder.OnRecord(t::RingCgroup(FT_CGROUP_MKDIR, 8, "/newer", 160));
  builder.OnRecord(t::RingCgroup(FT_CGROUP_MKDIR, 7, "/older", 60));
  builder.Finish(100);
  EXPECT_THAT(SampleTimes(first), ElementsAre(10, 100));
  EXPECT_THAT(SidebandTexts(first), ElementsAre("older"));
  EXPECT_THAT(CgroupPaths(first), ElementsAre("/older"));

  Round second;
  builder.Begin(second);
  first.Clear();  // Its memory is reused while the held-back part waits.
  builder.OnRecord(SampleAt(99));
  builder.OnSideband(t::PerfComm(1, 1, "newest", false, 200));
  builder.Finish(std::numeric_limits<int64_t>::max());
  EXPECT_THAT(SampleTimes(second), ElementsAre(99, 101));
  EXPECT_THAT(SidebandTexts(second), ElementsAre("newer", "newest"));
  EXPECT_THAT(CgroupPaths(second), ElementsAre("/newer"));
}

TEST(RoundBuilder, HoldsBackOverSeveralRounds) {
  RoundBuilder builder;
  Round round;
  builder.Begin(round);
  builder.OnSideband(t::PerfComm(1, 1, "far", false, 1000));
  builder.Finish(10);
  EXPECT_TRUE(round.sideband.empty());
  for (int64_t horizon : {20, 30, 999}) {
    round.Clear();
    builder.Begin(round);
    builder.Finish(horizon);
    EXPECT_TRUE(round.sideband.empty()) << horizon;
    EXPECT_TRUE(RoundBuilder::IsEmpty(round)) << horizon;
  }
  round.Clear();
  builder.Begin(round);
  builder.Finish(1000);
  EXPECT_THAT(SidebandTexts(round), ElementsAre("far"));
}

TEST(RoundBuilder, HandsBodiesOnAtOnce) {
  RoundBuilder builder;
  Round round;
  builder.Begin(round);
  ft_stack head{};
  head.time_ns = 5000;  // far beyond the horizon
  head.stack_hash = 77;
  head.epoch = 3;
  const uint64_t kernel[] = {0xffffffff81000010, 0xffffffff81000020};
  const uint64_t user[] = {0x401000, 0x401100, 0x401200};
  builder.OnRecord(t::RingStack(head, kernel, user));
  builder.OnRecord(t::RingStack(head, {}, user));
  builder.Finish(10);
  ASSERT_THAT(round.body_begins, ElementsAre(0, 6 + 5));
  ASSERT_EQ(round.bodies.size(), 6u + 5 + 6 + 3);
  EXPECT_EQ(round.bodies[1], 77u);
  EXPECT_EQ(round.bodies[6], kernel[0]);
  EXPECT_EQ(round.bodies[8], user[0]);
  EXPECT_EQ(round.bodies[10], user[2]);
  EXPECT_FALSE(RoundBuilder::IsEmpty(round));
}

TEST(RoundBuilder, CopiesEveryFieldOfACgroupEvent) {
  RoundBuilder builder;
  Round round;
  builder.Begin(round);
  t::Bytes record = t::RingCgroup(FT_CGROUP_RENAME, 99, "/kubepods/pod1/c", 12);
  record[offsetof(ft_cgroup_event, path_cut)] = std::byte{1};
  builder.OnRecord(record);
  builder.Finish(100);
  ASSERT_EQ(round.cgroup_events.size(), 1u);
  const CgroupEvent& event = round.cgroup_events[0];
  EXPECT_EQ(event.time_ns, 12);
  EXPECT_EQ(event.cgroup_id, 99u);
  EXPECT_EQ(event.change, FT_CGROUP_RENAME);
  EXPECT_TRUE(event.path_cut);
  EXPECT_THAT(CgroupPaths(round), ElementsAre("/kubepods/pod1/c"));
}

TEST(RoundBuilder, CountsRecordsThatMakeNoSense) {
  RoundBuilder builder;
  Round round;
  builder.Begin(round);
  t::Bytes unknown = SampleAt(1);
  unknown[offsetof(ft_sample, kind)] = std::byte{9};
  builder.OnRecord(unknown);
  unknown[offsetof(ft_sample, kind)] = std::byte{0};
  builder.OnRecord(unknown);
  const uint64_t user[] = {1, 2, 3};
  size_t bad = 2;
  for (const t::Bytes& whole : {SampleAt(1), t::RingStack(ft_stack{}, {}, user),
                                t::RingCgroup(FT_CGROUP_MKDIR, 1, "/some/path", 1)}) {
    for (size_t size = 0; size < whole.size(); ++size, ++bad) {
      builder.OnRecord(std::span(whole).first(size));
    }
  }
  builder.OnSideband(std::span(unknown).first(4));
  builder.Finish(100);
  EXPECT_EQ(round.bad_records, bad + 1);
  EXPECT_TRUE(round.samples.empty());
  EXPECT_TRUE(round.body_begins.empty());
  EXPECT_TRUE(round.cgroup_events.empty());
  EXPECT_FALSE(RoundBuilder::IsEmpty(round)) << "somebody must hear of them";
}

t::Bytes WaitTo(uint64_t end_ns, uint64_t value_ns, uint64_t runqueue_ns) {
  ft_wait wait{};
  wait.sample.time_ns = end_ns;
  wait.sample.value = value_ns;
  wait.sample.kind = FT_KIND_WAIT;
  wait.runqueue_ns = runqueue_ns;
  t::Bytes record;
  t::Append(record, wait);
  return record;
}

std::vector<uint64_t> WaitEnds(const Round& round) {
  std::vector<uint64_t> ends;
  for (const ft_wait& wait : round.waits) ends.push_back(wait.sample.time_ns);
  return ends;
}

TEST(RoundBuilder, OrdersWaitsAndKeepsThoseBehindTheHorizon) {
  RoundBuilder builder;
  Round round;
  builder.Begin(round);
  for (const uint64_t end : {30u, 50u, 10u}) builder.OnRecord(WaitTo(end, 5, 5));
  builder.Finish(40);
  EXPECT_THAT(WaitEnds(round), ElementsAre(10, 30));
  EXPECT_FALSE(RoundBuilder::IsEmpty(round));
  builder.Begin(round);
  builder.Finish(60);
  EXPECT_THAT(WaitEnds(round), ElementsAre(50));
}

TEST(RoundBuilder, RefusesWaitsThatAreCutOrMakeNoSense) {
  RoundBuilder builder;
  Round round;
  builder.Begin(round);
  const t::Bytes whole = WaitTo(1, 5, 5);
  for (size_t size = 0; size < whole.size(); ++size) builder.OnRecord(std::span(whole).first(size));
  builder.OnRecord(WaitTo(1, 0, 0));
  builder.OnRecord(WaitTo(1, 5, 6));
  builder.Finish(100);
  EXPECT_EQ(round.bad_records, whole.size() + 2);
  EXPECT_TRUE(round.waits.empty());
}

}  // namespace
}  // namespace firetower::daemon
