// SPDX-License-Identifier: Apache-2.0
#include "hub/readiness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::hub {
namespace {

using k8s::ReflectorHealth;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<k8s::WatchState> Watches(ReflectorHealth policies, ReflectorHealth cluster_policies,
                                     ReflectorHealth reports, bool has_synced = true) {
  const auto state = [&](ReflectorHealth health) {
    return k8s::ReflectorState{health, has_synced && health != ReflectorHealth::kForbidden, 0,
                               "as it is"};
  };
  return {{"profilingpolicies", "", state(policies)},
          {"clusterprofilingpolicies", "", state(cluster_policies)},
          {"profilingnodes", "", state(reports)}};
}

constexpr ReflectorHealth kSynced = ReflectorHealth::kSynced;
constexpr ReflectorHealth kFailing = ReflectorHealth::kFailing;
constexpr ReflectorHealth kForbidden = ReflectorHealth::kForbidden;

TEST(HubReadiness, WritesNothingBeforeEverythingIsKnown) {
  EXPECT_TRUE(MayWrite(Watches(kSynced, kSynced, kSynced)));
  EXPECT_FALSE(MayWrite(Watches(kFailing, kSynced, kSynced)));
  EXPECT_FALSE(MayWrite(Watches(kSynced, kSynced, kFailing)));
  EXPECT_FALSE(MayWrite(Watches(ReflectorHealth::kStarting, kSynced, kSynced, false)));
}

TEST(HubReadiness, AKindThatIsRefusedLeavesTheOtherAlone) {
  EXPECT_TRUE(MayWrite(Watches(kSynced, kForbidden, kSynced)));
  EXPECT_TRUE(MayWrite(Watches(ReflectorHealth::kAbsent, kSynced, kSynced)));
  EXPECT_FALSE(MayWrite(Watches(kSynced, kSynced, kForbidden)));
}

// A revoked right keeps the objects that were read; a removed definition removes them.
TEST(HubReadiness, KnowsThatThereAreNoReportsAnyMore) {
  EXPECT_TRUE(ReportsAreAbsent(Watches(kSynced, kSynced, ReflectorHealth::kAbsent)));
  EXPECT_FALSE(ReportsAreAbsent(Watches(kSynced, ReflectorHealth::kAbsent, kSynced)));
  EXPECT_FALSE(ReportsAreAbsent(Watches(kSynced, kSynced, kForbidden)));
  EXPECT_FALSE(ReportsAreAbsent(Watches(kSynced, kSynced, kFailing)));
}

TEST(HubReadiness, SaysWhatItWaitsFor) {
  EXPECT_EQ(AwaitedText(Watches(kSynced, kForbidden, kFailing)), "");
  const std::string text = AwaitedText(Watches(kFailing, kForbidden, kForbidden, false));
  EXPECT_THAT(text, HasSubstr("profilingpolicies were not read from the API server yet: as it is"));
  EXPECT_THAT(text, HasSubstr("profilingnodes were not read"));
  EXPECT_THAT(text, Not(HasSubstr("clusterprofilingpolicies")));
}

}  // namespace
}  // namespace firetower::hub
