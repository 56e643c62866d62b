// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/aggregate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/clock.h"
#include "tests/unit/k8s/status/watched_policies.h"

namespace firetower::k8s {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kNow = kCreatedNs + 20 * kNsPerSecond + 5;
constexpr PolicyMoment kSettled{kNow, true, true, false};
constexpr PolicyMoment kYoung{kNow, false, false, false};
constexpr PolicyMoment kInTime{kNow, true, false, false};
constexpr PolicyMoment kLonely{kNow, true, true, true};

PolicyStatus StatusOf(const WatchedPolicy& policy, const std::vector<PolicyRow>& rows,
                      const PolicyMoment& moment = kSettled) {
  static const std::vector<std::string> kNames = {"n0", "n1", "n2", "n3", "n4", "n5", "n6",
                                                  "n7", "n8", "n9", "na", "nb", "nc"};
  std::vector<ReportedRow> reported;
  for (size_t i = 0; i < rows.size(); ++i) reported.push_back({kNames.at(i), &rows[i]});
  return Aggregate(policy, reported, moment);
}

// "True/Programmed"
std::string Says(const PolicyStatus& status, std::string_view type) {
  const Condition* condition = status.Find(type);
  if (condition == nullptr) return "none";
  const char* names[] = {"True", "False", "Unknown"};
  return std::string(names[static_cast<int>(condition->status)]) + "/" + condition->reason;
}

TEST(Aggregate, EveryNodeThatHasPodsRunsIt) {
  const PolicyStatus status = StatusOf(PolicyWith(3), {RowOf(3), RowOf(3, PolicyState::kArmed)});
  EXPECT_EQ(status.observed_generation, 3);
  EXPECT_EQ(status.nodes, (NodeCounts{2, 2, 0, 0, 0}));
  EXPECT_EQ(status.pods_matched, 4);
  EXPECT_EQ(Says(status, "Accepted"), "True/Accepted");
  EXPECT_EQ(Says(status, "Programmed"), "True/Programmed");
  EXPECT_EQ(Says(status, "Degraded"), "False/AsExpected");
  EXPECT_EQ(Says(status, "Complete"), "False/Active");
  EXPECT_EQ(Says(status, "Ready"), "True/Ready");
  ASSERT_THAT(status.conditions, SizeIs(5));
  for (const Condition& condition : status.conditions)
    EXPECT_EQ(condition.observed_generation, 3) << condition.type;
}

TEST(Aggregate, IsNotProgrammedBeforeEveryAgentCouldAnswer) {
  EXPECT_EQ(Says(StatusOf(PolicyWith(1), {RowOf(1)}, kYoung), "Programmed"), "False/Reconciling");
  EXPECT_EQ(Says(StatusOf(PolicyWith(1), {}, kYoung), "Programmed"), "False/Reconciling");
  EXPECT_EQ(Says(StatusOf(PolicyWith(1), {}), "Programmed"), "False/Reconciling");
  EXPECT_EQ(Says(StatusOf(PolicyWith(1), {}, kLonely), "Programmed"), "False/NoTargets");
}

// A new leader knows no times; a programmed policy stays programmed.
TEST(Aggregate, StaysProgrammedWhenAnotherHubTakesOver) {
  WatchedPolicy policy = PolicyWith(2);
  policy.status = StatusOf(policy, {RowOf(2)});
  EXPECT_EQ(Says(StatusOf(policy, {RowOf(2)}, kYoung), "Programmed"), "True/Programmed");
  EXPECT_EQ(Says(StatusOf(policy, {}, kYoung), "Programmed"), "True/Programmed");
  policy.object.generation = 3;
  EXPECT_EQ(Says(StatusOf(policy, {RowOf(2)}, kYoung), "Programmed"), "False/Reconciling");
}

TEST(Aggregate, CountsOldGenerationsAsStale) {
  const PolicyStatus status = StatusOf(PolicyWith(4), {RowOf(4), RowOf(3), RowOf(5)});
  EXPECT_EQ(status.nodes, (NodeCounts{3, 1, 0, 0, 2}));
  EXPECT_EQ(Says(status, "Programmed"), "False/PartiallyProgrammed");
  EXPECT_EQ(Says(status, "Ready"), "False/PartiallyProgrammed");
  EXPECT_EQ(Says(StatusOf(PolicyWith(4), {RowOf(4), RowOf(3)}, kInTime), "Programmed"),
            "False/Reconciling");
}

TEST(Aggregate, ShowsASampleOfWhatFailed) {
  std::vector<PolicyRow> rows(13, RowOf(1, PolicyState::kFailed, "MissingCapability"));
  rows[0] = RowOf(1);
  rows[1].reason = "KernelUnsupported";
  rows[1].message = std::string(300, 'x');
  const PolicyStatus status = StatusOf(PolicyWith(1), rows);
  EXPECT_EQ(status.nodes, (NodeCounts{13, 1, 12, 0, 0}));
  EXPECT_EQ(Says(status, "Programmed"), "False/PartiallyProgrammed");
  EXPECT_EQ(Says(status, "Degraded"), "True/MissingCapability");
  ASSERT_THAT(status.failures, SizeIs(10));
  EXPECT_EQ(status.failures[0].node, "n1");
  EXPECT_EQ(status.failures[0].reason, "KernelUnsupported");
  EXPECT_EQ(status.failures[0].message.size(), 256u);
}

TEST(Aggregate, FailingEverywhereNamesTheReason) {
  const PolicyStatus status =
      StatusOf(PolicyWith(1), {RowOf(1, PolicyState::kFailed, "no reason the schema takes")});
  EXPECT_EQ(Says(status, "Programmed"), "False/Failed");
  EXPECT_EQ(Says(status, "Degraded"), "True/Failed");
}

// It runs there, but not as it was asked for.
TEST(Aggregate, WhatIsCutIsDegradedAndStillProgrammed) {
  for (const std::string reason :
       {"BudgetExceeded", "StoreUnreachable", "MissingCapability", "ExceedsClusterCeiling",
        "MetricUnavailable", "OptOutsUnknown", "MissingHostPID"}) {
    for (const PolicyState state : {PolicyState::kRunning, PolicyState::kArmed}) {
      const PolicyStatus status = StatusOf(PolicyWith(1), {RowOf(1, state, reason)});
      EXPECT_EQ(Says(status, "Programmed"), "True/Programmed");
      EXPECT_EQ(Says(status, "Degraded"), "True/" + reason);
      EXPECT_EQ(Says(status, "Ready"), "False/" + reason);
    }
  }
}

// Its last report says that all is well.
TEST(Aggregate, ANodeWithoutAnAgentRunsNothing) {
  const PolicyRow row = RowOf(1);
  PolicyStatus status = Aggregate(
      PolicyWith(1), std::vector<ReportedRow>{{"n0", &row}, {"n1", &row, true}}, kSettled);
  EXPECT_EQ(status.nodes, (NodeCounts{2, 1, 0, 0, 1}));
  EXPECT_EQ(status.pods_matched, 4);
  EXPECT_EQ(status.pods_profiled, 2);
  EXPECT_EQ(Says(status, "Programmed"), "False/PartiallyProgrammed");
  EXPECT_EQ(Says(status, "Degraded"), "True/AgentNotReady");
  ASSERT_THAT(status.failures, SizeIs(1));
  EXPECT_EQ(status.failures[0].node, "n1");
  status = Aggregate(PolicyWith(1), std::vector<ReportedRow>{{"n1", &row, true}}, kSettled);
  EXPECT_EQ(Says(status, "Programmed"), "False/AgentNotReady");
  EXPECT_EQ(Says(status, "Ready"), "False/AgentNotReady");
}

TEST(Aggregate, WhoCannotTellIsNoNodeWithoutTargets) {
  PolicyMoment moment = kSettled;
  moment.no_targets = true;
  const auto said = [&] { return Aggregate(PolicyWith(1), {}, moment); };
  EXPECT_EQ(Says(said(), "Programmed"), "False/NoTargets");
  moment.agents_down = true;
  EXPECT_EQ(Says(said(), "Programmed"), "False/NoTargets");
  EXPECT_THAT(said().Find("Programmed")->message, HasSubstr("some agents are not ready"));
  moment.no_agent_runs = true;
  EXPECT_EQ(Says(said(), "Programmed"), "False/AgentNotReady");
}

TEST(Aggregate, LosersAreOverridden) {
  const PolicyRow lost = RowOf(1, PolicyState::kOverridden);
  EXPECT_EQ(Says(StatusOf(PolicyWith(1), {lost, lost}), "Programmed"), "False/Overridden");
  EXPECT_EQ(Says(StatusOf(PolicyWith(1), {lost, RowOf(1)}), "Programmed"),
            "False/PartiallyProgrammed");
}

TEST(Aggregate, NodesThatTheSelectorLeavesOutAreNotDesired) {
  const PolicyRow skipped = RowOf(1, PolicyState::kSkipped);
  const PolicyStatus status = StatusOf(PolicyWith(1), {RowOf(1), skipped});
  EXPECT_EQ(status.nodes, (NodeCounts{1, 1, 0, 1, 0}));
  EXPECT_EQ(status.pods_matched, 2);
  EXPECT_EQ(Says(status, "Programmed"), "True/Programmed");
  const PolicyStatus none = StatusOf(PolicyWith(1), {skipped}, kLonely);
  EXPECT_EQ(Says(none, "Programmed"), "False/NoTargets");
  EXPECT_THAT(none.Find("Programmed")->message, HasSubstr("nodeSelector matches none of the 1"));
}

TEST(Aggregate, SaysWhyAPolicyIsNotAccepted) {
  const auto with_regex = [](std::string_view regex) {
    return PolicyWith(
        1, fmt::format(R"(,"filter":{{"processes":[{{"commandLineRegex":"{}"}}]}})", regex));
  };
  EXPECT_EQ(Says(StatusOf(with_regex("a+"), {RowOf(1)}), "Accepted"), "True/Accepted");
  const PolicyStatus bad = StatusOf(with_regex("a("), {});
  EXPECT_EQ(Says(bad, "Accepted"), "False/Invalid");
  EXPECT_THAT(bad.Find("Accepted")->message,
              HasSubstr("spec.filter.processes[0].commandLineRegex"));
  EXPECT_EQ(Says(bad, "Programmed"), "False/NotAccepted");
  EXPECT_EQ(Says(bad, "Ready"), "False/Invalid");

  const PolicyStatus newer = StatusOf(PolicyWith(1, R"(,"profiles":[{"type":"Quantum"}])"), {});
  EXPECT_EQ(Says(newer, "Accepted"), "False/UnsupportedProfileType");
  const PolicyStatus unserved = StatusOf(
      PolicyWith(
          1,
          R"(,"profiles":[{"type":"Event","events":[{"name":"sched:sched_switch","period":1}]}])"),
      {});
  EXPECT_EQ(Says(unserved, "Accepted"), "False/UnsupportedProfileType");
}

TEST(Aggregate, SuspendedIsSaid) {
  const PolicyStatus status = StatusOf(PolicyWith(1, R"(,"suspend":true)"), {}, kLonely);
  EXPECT_EQ(Says(status, "Programmed"), "False/Suspended");
  EXPECT_EQ(Says(status, "Accepted"), "True/Accepted");
}

TEST(Aggregate, EndsWithItsDeadline) {
  const WatchedPolicy policy =
      PolicyWith(1, R"(,"activeDeadlineSeconds":60,"ttlSecondsAfterFinished":30)");
  EXPECT_EQ(DeadlineNs(policy), kCreatedNs + 60 * kNsPerSecond);
  EXPECT_EQ(DeletionNs(policy), kCreatedNs + 90 * kNsPerSecond);
  PolicyMoment moment{kCreatedNs + 60 * kNsPerSecond - 1, true, true, false};
  EXPECT_EQ(Says(StatusOf(policy, {RowOf(1)}, moment), "Complete"), "False/Active");
  ++moment.wall_ns;
  const PolicyStatus status = StatusOf(policy, {RowOf(1)}, moment);
  EXPECT_EQ(Says(status, "Complete"), "True/DeadlineExceeded");
  EXPECT_EQ(Says(status, "Programmed"), "False/Complete");
  EXPECT_EQ(Says(status, "Ready"), "True/Complete");
  EXPECT_EQ(DeadlineNs(PolicyWith(1)), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(DeletionNs(PolicyWith(1, R"(,"activeDeadlineSeconds":60)")),
            std::numeric_limits<int64_t>::max());
}

TEST(Aggregate, TransitionTimesMoveOnlyOnAFlip) {
  WatchedPolicy policy = PolicyWith(1);
  policy.status = StatusOf(policy, {RowOf(1)});
  const int64_t first = kNow - kNow % kNsPerSecond;
  EXPECT_EQ(policy.status.Find("Programmed")->last_transition_ns, first);
  const PolicyMoment later{kNow + 3600 * kNsPerSecond, true, true, false};
  const PolicyStatus same = StatusOf(policy, {RowOf(1)}, later);
  EXPECT_EQ(same, policy.status);
  const PolicyStatus failed = StatusOf(policy, {RowOf(1, PolicyState::kFailed, "X")}, later);
  EXPECT_EQ(failed.Find("Programmed")->last_transition_ns, first + 3600 * kNsPerSecond);
  EXPECT_EQ(failed.Find("Accepted")->last_transition_ns, first);
}

TEST(Aggregate, KeepsConditionsOfOthers) {
  const WatchedPolicy policy = PolicyWith(
      2, "",
      R"({"observedGeneration":1,"conditions":[{"type":"team.example/Reviewed","status":"True",)"
      R"("reason":"ByHand","message":"m","lastTransitionTime":"2026-11-21T19:43:27Z"}]})");
  const PolicyStatus status = StatusOf(policy, {RowOf(2)});
  ASSERT_THAT(status.conditions, SizeIs(6));
  EXPECT_EQ(status.conditions[5], policy.status.conditions[0]);
}

TEST(Aggregate, ReadsBackWhatItWrites) {
  PolicyRow failed = RowOf(1, PolicyState::kFailed, "KernelUnsupported");
  failed.message = "needs 5.10 \"or\" newer";
  PolicyRow armed = RowOf(1, PolicyState::kArmed);
  armed.captures = 7;
  armed.last_capture_ns = kCreatedNs;
  const PolicyStatus written = StatusOf(PolicyWith(1), {failed, armed});
  const Result<Node> patch = ParseObject(StatusPatchJson(written, "214"), {"metadata", "status"});
  ASSERT_TRUE(patch) << patch.error().message();
  EXPECT_EQ(patch->Find("metadata")->Find("resourceVersion")->text, "214");
  EXPECT_EQ(ReadPolicyStatus(*patch), written);
  EXPECT_EQ(written.captures, 7);
  EXPECT_EQ(written.last_capture_ns, kCreatedNs);
}

TEST(Aggregate, ReportsSpreadByTheSizeOfTheCluster) {
  EXPECT_EQ(ReportSpanNs(1), kNsPerSecond / 10);
  EXPECT_EQ(ReportSpanNs(11), kNsPerSecond);
  EXPECT_EQ(ReportSpanNs(5000), 100 * kNsPerSecond);
  EXPECT_EQ(ReportSpanNs(0), 20 * kNsPerSecond);
}

}  // namespace
}  // namespace firetower::k8s
