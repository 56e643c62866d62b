// SPDX-License-Identifier: Apache-2.0
// Types of profiles other than CPU: which are sampled, and how.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/policy/policy_selection.h"
#include "tests/unit/daemon/policy/policies.h"

namespace firetower::daemon {
namespace {

constexpr uint32_t kCeilingHz = 97;
const EventNames kEvents = {"page-faults", "cs", "", ""};
constexpr Type kFaults = FT_TYPE_EVENT, kSwitches = FT_TYPE_EVENT + 1;

const Container kInPod = PodContainer("89abc", 'a');
const Container kUnit = ContainerAt("/system.slice/cron.service");

std::string Policy(const std::string& name, const std::string& profiles,
                   const std::string& more = kAllPods) {
  return Document(name, "mode: General, " + kContinuous + "profiles: [" + profiles + "], " + more,
                  "ClusterProfilingPolicy");
}

std::shared_ptr<const Selection> Select(const std::string& documents, RateFactors factors = {}) {
  return PolicySchedule(Loaded(documents), kCeilingHz, kEvents)
      .At(0, std::nullopt, {}, std::move(factors));
}

TEST(TypeSelection, DecidesEachTypeByItself) {
  const auto selection = Select(Policy(
      "a", "{type: OffCPU, minBlockMicroseconds: 500}, {type: Lock, minBlockMicroseconds: 20}"));
  EXPECT_FALSE(selection->Decide(kInPod).sampled) << "no policy asks for CPU time";
  EXPECT_EQ(selection->Decide(kInPod, FT_TYPE_OFFCPU).min_wait_ns, 500'000);
  EXPECT_EQ(selection->Decide(kInPod, FT_TYPE_LOCK).min_wait_ns, 20'000);
  EXPECT_FALSE(selection->Decide(kInPod, kFaults).sampled);
  EXPECT_FALSE(selection->Decide(kUnit, FT_TYPE_OFFCPU).sampled);
  EXPECT_EQ(selection->min_wait_ns(), 20'000);
  EXPECT_FALSE(selection->Samples(FT_TYPE_CPU));
  EXPECT_TRUE(selection->Samples(FT_TYPE_OFFCPU));
  EXPECT_FALSE(selection->Samples(kFaults));
}

TEST(TypeSelection, AttachesNothingForCpuTime) {
  const auto selection = Select(Policy("a", "{type: CPU}"));
  EXPECT_FALSE(selection->Samples(FT_TYPE_LOCK));
  EXPECT_FALSE(selection->min_wait_ns()) << "no program on each switch of a thread";
}

TEST(TypeSelection, TakesTheShortestWaitOfAllPolicies) {
  const auto selection = Select(Policy("a", "{type: OffCPU, minBlockMicroseconds: 500}") +
                                Policy("b", "{type: OffCPU, minBlockMicroseconds: 20}"));
  EXPECT_EQ(selection->Decide(kInPod, FT_TYPE_OFFCPU).min_wait_ns, 20'000);
  EXPECT_EQ(selection->Decide(kInPod, FT_TYPE_OFFCPU).policies.size(), 2u);
}

TEST(TypeSelection, NamesTheEventOfItsNumber) {
  const auto selection = Select(
      Policy("a", "{type: Event, events: [{name: cs, period: 100}, {name: cycles, period: 1}]}"));
  EXPECT_EQ(selection->Decide(kInPod, kSwitches).event, "cs");
  EXPECT_FALSE(selection->Decide(kInPod, kFaults).sampled);
  const WantedEvents events = selection->events();
  EXPECT_EQ(events[1].name, "cs");
  EXPECT_EQ(events[1].rate.period, 100u);
  EXPECT_TRUE(events[0].name.empty());
  EXPECT_TRUE(events[2].name.empty()) << "cycles has no number";
}

TEST(TypeSelection, TakesTheHighestRateOfAnEvent) {
  const auto selection =
      Select(Policy("a", "{type: Event, events: [{name: cs, frequencyHertz: 20}]}") +
             Policy("b", "{type: Event, events: [{name: cs, frequencyHertz: 200}]}"));
  EXPECT_EQ(selection->events()[1].rate, (EventRate{.hertz = kCeilingHz, .period = 0}))
      << "the agent's ceiling holds for events";
  const auto periods = Select(Policy("a", "{type: Event, events: [{name: cs, period: 20}]}") +
                              Policy("b", "{type: Event, events: [{name: cs, period: 200}]}"));
  EXPECT_EQ(periods->events()[1].rate.period, 20u);
}

TEST(TypeSelection, OfMemoryTakesPageFaults) {
  const auto selection = Select(Policy("a", "{type: Memory}"));
  EXPECT_EQ(selection->Decide(kInPod, kFaults).event, "page-faults");
  EXPECT_EQ(selection->events()[0].rate.hertz, 49u);
}

TEST(TypeSelection, OfMemoryTakesTheFewestBytesOfAllPolicies) {
  const auto selection =
      Select(Policy("a", "{type: Memory, sampleBytes: 8192}") + Policy("b", "{type: Memory}"));
  EXPECT_TRUE(selection->Samples(FT_TYPE_MEMORY));
  const Decision decision = selection->Decide(kInPod, FT_TYPE_MEMORY);
  EXPECT_TRUE(decision.sampled);
  EXPECT_EQ(decision.sample_bytes, 8192);
  EXPECT_EQ(decision.policies.size(), 2u);
  EXPECT_FALSE(selection->Decide(kUnit, FT_TYPE_MEMORY).sampled);
  EXPECT_FALSE(decision.in_use);
  const auto in_use =
      Select(Policy("a", "{type: Memory, inUse: true}") + Policy("b", "{type: Memory}"));
  EXPECT_TRUE(in_use->Decide(kInPod, FT_TYPE_MEMORY).in_use) << "one policy asks for it";
  EXPECT_EQ(Select(Policy("b", "{type: Memory}"))->Decide(kInPod, FT_TYPE_MEMORY).sample_bytes,
            512 << 10);
  EXPECT_FALSE(Select(Policy("c", "{type: CPU}"))->Samples(FT_TYPE_MEMORY));
}

TEST(TypeSelection, LowersEveryType) {
  const std::string name = "ClusterProfilingPolicy a";
  const std::string policy = Policy("a",
                                    "{type: OffCPU}, {type: Memory, sampleBytes: 4096}, {type: "
                                    "Event, events: [{name: cs, period: 100}, "
                                    "{name: page-faults, frequencyHertz: 40}]}");
  const auto half = Select(policy, {{name, 0.5}});
  EXPECT_EQ(half->Decide(kInPod, FT_TYPE_OFFCPU).min_wait_ns, 2'000'000);
  EXPECT_EQ(half->events()[1].rate.period, 200u);
  EXPECT_EQ(half->Decide(kInPod, FT_TYPE_MEMORY).sample_bytes, 8192);
  EXPECT_EQ(half->events()[0].rate.hertz, 20u);
  const auto none = Select(policy, {{name, 0.0}});
  for (Type type = 0; type < FT_TYPE_COUNT; ++type) EXPECT_FALSE(none->Samples(type));
}

TEST(TypeSelection, OpensAnEventOnTheFiltersCpusAlone) {
  const auto selection = Select(Document("a",
                                         "mode: Filter, filter: {cpus: \"1\"}, profiles: [{type: "
                                         "Event, events: [{name: cs, period: 1}]}], " +
                                             kAllPods,
                                         "ClusterProfilingPolicy"));
  const WantedEvents events = selection->events();
  ASSERT_TRUE(events[1].cpus);
  EXPECT_TRUE(events[1].cpus->test(1));
  EXPECT_EQ(events[1].cpus->count(), 1u);
  EXPECT_EQ(selection->cpus(), CpuSet()) << "no CPU's clock is open";
}

}  // namespace
}  // namespace firetower::daemon
