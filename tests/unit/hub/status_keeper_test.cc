// SPDX-License-Identifier: Apache-2.0
#include "hub/status_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/k8s/recording_api_server.h"
#include "tests/unit/k8s/status/watched_policies.h"

namespace firetower::hub {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kSecond = kNsPerSecond;

class StatusKeeperTest : public ::testing::Test {
 protected:
  void Show(k8s::WatchedPolicy policy) {
    PolicyStore::Objects objects;
    const std::string uid = policy.object.uid;
    objects["shop/checkout"] = {uid, std::make_shared<const k8s::WatchedPolicy>(std::move(policy))};
    view_.policies = std::make_shared<const PolicyStore::Objects>(std::move(objects));
    keeper_.Take(view_);
  }
  void Report(std::vector<k8s::PolicyRow> rows) {
    view_.reports = {true, {}};
    for (size_t i = 0; i < rows.size(); ++i) {
      k8s::NodeReport report;
      report.node = "node-" + std::to_string(i);
      report.agent.pod_namespace = "firetower";
      report.policies = {rows[i]};
      view_.reports.reports[report.node] = std::make_shared<const k8s::NodeReport>(report);
    }
    keeper_.Take(view_);
  }
  // The server takes it; the object then has this version.
  void Taken(int version) {
    server_.Answer(200, fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}}}})", version));
  }
  size_t Writes() const { return server_.requests().size(); }

  FakeClock clock_{1000 * kSecond, k8s::kCreatedNs + 10 * kSecond};
  k8s::RecordingApiServer server_;
  HubMetrics metrics_;
  bool leads_ = true;
  HubView view_{nullptr, std::make_shared<const PolicyStore::Objects>(), {}};
  StatusKeeper keeper_{
      {server_, clock_, metrics_, "hub-1", "firetower", [this] { return leads_; }}};
};

TEST_F(StatusKeeperTest, SaysAtOnceThatItIsTakenUpAndThenThatItRuns) {
  Show(k8s::PolicyWith(1));
  Taken(215);
  keeper_.StepNs();
  ASSERT_EQ(Writes(), 1u);
  EXPECT_THAT(server_.last().body,
              AllOf(HasSubstr(R"("resourceVersion":"214")"), HasSubstr("Reconciling")));
  EXPECT_EQ(keeper_.StepNs(), kSecond) << "until more can be said";
  EXPECT_EQ(Writes(), 1u);

  Report({k8s::RowOf(1), k8s::RowOf(1)});
  clock_.Advance(kSecond);
  keeper_.StepNs();
  EXPECT_EQ(Writes(), 1u)
      << "agents of a small cluster have 0.1 s, and their reports are on the way";
  clock_.Advance(kSecond / 10);
  Taken(216);
  keeper_.StepNs();
  ASSERT_EQ(Writes(), 2u);
  // The watch has not shown the first write yet.
  EXPECT_THAT(server_.last().body,
              AllOf(HasSubstr(R"("resourceVersion":"215")"), HasSubstr("2 of 2 nodes")));
  keeper_.StepNs();
  EXPECT_EQ(Writes(), 2u) << "nothing changed";
}

// Agents may be slower than expected: missing reports are not given up at the end of the span, or
// the status would be written twice.
TEST_F(StatusKeeperTest, WaitsForAgentsThatAreLate) {
  Show(k8s::PolicyWith(2));
  Report({k8s::RowOf(2), k8s::RowOf(1)});
  Taken(215);
  keeper_.StepNs();
  clock_.Advance(20 * kSecond);
  keeper_.StepNs();
  EXPECT_EQ(Writes(), 1u);
  Taken(216);
  Report({k8s::RowOf(2), k8s::RowOf(2)});
  keeper_.StepNs();
  ASSERT_EQ(Writes(), 2u);
  EXPECT_THAT(server_.last().body, HasSubstr("2 of 2 nodes"));
}

TEST_F(StatusKeeperTest, ANodeThatNeverAnswersIsSaid) {
  Show(k8s::PolicyWith(2));
  Report({k8s::RowOf(2), k8s::RowOf(1)});
  Taken(215);
  keeper_.StepNs();
  clock_.Advance(40 * kSecond);
  Taken(216);
  keeper_.StepNs();
  ASSERT_EQ(Writes(), 2u);
  EXPECT_THAT(server_.last().body, HasSubstr("PartiallyProgrammed"));
}

// Its reports stay as they were when it last wrote one.
TEST_F(StatusKeeperTest, SaysWhenANodesAgentIsGone) {
  AgentPodStore::Objects pods;
  pods["firetower/agent-0"] = {"uid", std::make_shared<const AgentPod>(AgentPod{"node-0", true})};
  view_.agent_pods = std::make_shared<const AgentPodStore::Objects>(pods);
  Show(k8s::PolicyWith(1));
  Report({k8s::RowOf(1), k8s::RowOf(1)});
  Taken(215);
  keeper_.StepNs();
  clock_.Advance(2 * kSecond);
  Taken(216);
  keeper_.StepNs();
  ASSERT_EQ(Writes(), 2u);
  EXPECT_THAT(server_.last().body, HasSubstr("2 of 2 nodes"));
  clock_.Advance(AgentLife::kGraceNs);
  Taken(217);
  keeper_.StepNs();
  ASSERT_EQ(Writes(), 4u) << "the status, and an Event of it";
  EXPECT_THAT(server_.requests()[2].body,
              AllOf(HasSubstr("1 of 2 nodes"), HasSubstr("AgentNotReady"), HasSubstr("node-1")));
  EXPECT_THAT(server_.last().body, HasSubstr(R"("reason":"AgentNotReady")"));
}

TEST_F(StatusKeeperTest, WritesOnlyWhileItLeads) {
  leads_ = false;
  Show(k8s::PolicyWith(1));
  keeper_.StepNs();
  EXPECT_EQ(Writes(), 0u);
}

TEST_F(StatusKeeperTest, AConflictWaitsForTheNewState) {
  Show(k8s::PolicyWith(1));
  server_.Answer(409, R"({"message":"the object has been modified"})");
  keeper_.StepNs();
  keeper_.StepNs();
  ASSERT_EQ(Writes(), 1u);
  k8s::WatchedPolicy edited = k8s::PolicyWith(2);
  edited.resource_version = "300";
  Show(edited);
  clock_.Advance(kSecond);
  Taken(301);
  keeper_.StepNs();
  ASSERT_EQ(Writes(), 2u);
  EXPECT_THAT(server_.last().body, AllOf(HasSubstr(R"("resourceVersion":"300")"),
                                         HasSubstr(R"("observedGeneration":2)")));
}

TEST_F(StatusKeeperTest, BacksOffFromAServerThatIsAway) {
  Show(k8s::PolicyWith(1));
  int64_t spent = 0;
  while (spent < 60 * kSecond) {
    const int64_t wait = std::max<int64_t>(keeper_.StepNs(), kNsPerMs);
    clock_.Advance(wait);
    spent += wait;
  }
  EXPECT_GE(Writes(), 3u);
  EXPECT_LE(Writes(), 30u);
}

TEST_F(StatusKeeperTest, HonoursRetryAfter) {
  Show(k8s::PolicyWith(1));
  server_.Answer(429, "{}", 40 * kSecond);
  for (int i = 0; i < 39; ++i) {
    keeper_.StepNs();
    clock_.Advance(kSecond);
  }
  EXPECT_EQ(Writes(), 1u);
  clock_.Advance(2 * kSecond);
  keeper_.StepNs();
  EXPECT_EQ(Writes(), 2u);
}

TEST_F(StatusKeeperTest, APolicyWithoutPodsIsOneWithoutTargets) {
  Show(k8s::PolicyWith(1));
  Taken(215);
  keeper_.StepNs();
  clock_.Advance(29 * kSecond);
  keeper_.StepNs();
  EXPECT_EQ(Writes(), 1u);
  clock_.Advance(kSecond);
  Taken(216);
  keeper_.StepNs();
  ASSERT_EQ(Writes(), 2u);
  EXPECT_THAT(server_.last().body, HasSubstr("NoTargets"));
}

TEST_F(StatusKeeperTest, ABadPolicyIsSaidInStatusAndAsAnEvent) {
  Show(k8s::PolicyWith(1, R"(,"filter":{"processes":[{"commandLineRegex":"a("}]})"));
  Taken(215);
  server_.Answer(201);
  keeper_.StepNs();
  ASSERT_EQ(Writes(), 2u);
  EXPECT_THAT(server_.requests()[0].body, HasSubstr("commandLineRegex"));
  EXPECT_EQ(server_.last().method, "POST");
  EXPECT_EQ(server_.last().target, "/apis/events.k8s.io/v1/namespaces/shop/events");
  EXPECT_THAT(server_.last().body,
              AllOf(HasSubstr(R"("type":"Warning")"), HasSubstr(R"("reason":"Invalid")"),
                    HasSubstr(R"("name":"checkout","namespace":"shop")")));
}

// It fails, recovers and fails again within a minute: the second Event comes when that is over.
TEST_F(StatusKeeperTest, AnEventThatWasHeldBackComesAfterItsMinute) {
  const auto events = [&] {
    return std::ranges::count_if(server_.requests(), [](const k8s::ApiRequest& request) {
      return request.target.find("/events") != std::string::npos;
    });
  };
  Show(k8s::PolicyWith(1));
  int version = 215;
  for (const bool fails : {true, false, true}) {
    const auto state = fails ? k8s::PolicyState::kFailed : k8s::PolicyState::kRunning;
    Report({k8s::RowOf(1, state, fails ? "KernelUnsupported" : "")});
    for (int second = 0; second < 10; ++second) {
      clock_.Advance(kSecond);
      Taken(version++);
      keeper_.StepNs();
    }
  }
  EXPECT_EQ(events(), 1);
  for (int second = 0; second < 60; ++second) {
    clock_.Advance(kSecond);
    Taken(version++);
    keeper_.StepNs();
  }
  EXPECT_EQ(events(), 2);
}

// An agent that starts again counts from 0, and a row goes with its pods; captures stay taken.
TEST_F(StatusKeeperTest, CountsCapturesOfAgentsThatStartAgain) {
  const auto rows = [](int64_t first, int64_t second) {
    std::vector<k8s::PolicyRow> both(2, k8s::RowOf(1));
    both[0].captures = first;
    both[1].captures = second;
    return both;
  };
  const auto total = [&] {
    clock_.Advance(310 * kSecond);
    Taken(300 + static_cast<int>(Writes()));
    keeper_.StepNs();
    const std::string& body = server_.last().body;
    return body.substr(body.find(R"("total":)"), 10);
  };
  Show(k8s::PolicyWith(1, "", R"({"captures":{"total":5}})"));
  Report(rows(3, 1));
  EXPECT_THAT(total(), HasSubstr(R"("total":5)")) << "the last leader knew of more";
  Report(rows(4, 1));
  EXPECT_THAT(total(), HasSubstr(R"("total":6)"));
  Report(rows(2, 1));
  EXPECT_THAT(total(), HasSubstr(R"("total":8)")) << "started again, and took two";
  Report({rows(2, 1)[0]});
  Report(rows(2, 2));
  EXPECT_THAT(total(), HasSubstr(R"("total":9)"));
}

TEST_F(StatusKeeperTest, DeletesAFinishedPolicyInItsTime) {
  Show(k8s::PolicyWith(1, R"(,"activeDeadlineSeconds":60,"ttlSecondsAfterFinished":30)"));
  Taken(215);
  keeper_.StepNs();
  clock_.Advance(50 * kSecond);  // the deadline
  Taken(216);
  keeper_.StepNs();
  EXPECT_THAT(server_.last().body, HasSubstr("DeadlineExceeded"));
  clock_.Advance(30 * kSecond - 1);
  keeper_.StepNs();
  EXPECT_EQ(Writes(), 2u);
  clock_.Advance(1);
  Taken(217);
  keeper_.StepNs();
  ASSERT_EQ(Writes(), 3u);
  EXPECT_EQ(server_.last().method, "DELETE");
  EXPECT_THAT(server_.last().body, HasSubstr(R"("resourceVersion":"216")"));
  keeper_.StepNs();
  EXPECT_EQ(Writes(), 3u) << "once";
}

// A deletion waits for the API server: one a step, so that between two the hub sees what changed,
// that it leads, and shows that it lives.
TEST_F(StatusKeeperTest, DeletesOneAStep) {
  constexpr size_t kPolicies = 5;
  PolicyStore::Objects objects;
  for (size_t i = 0; i < kPolicies; ++i) {
    k8s::WatchedPolicy policy =
        k8s::PolicyWith(1, R"(,"activeDeadlineSeconds":60,"ttlSecondsAfterFinished":30)");
    policy.name = policy.object.uid = "p" + std::to_string(i);
    objects["shop/" + policy.name] = {policy.object.uid,
                                      std::make_shared<const k8s::WatchedPolicy>(policy)};
  }
  view_.policies = std::make_shared<const PolicyStore::Objects>(std::move(objects));
  keeper_.Take(view_);
  clock_.Advance(90 * kSecond);
  const auto deletions = [&] {
    std::set<std::string> targets;
    size_t count = 0;
    for (const auto& request : server_.requests()) {
      if (request.method != "DELETE") continue;
      targets.insert(request.target);
      ++count;
    }
    EXPECT_EQ(targets.size(), count) << "each once";
    return count;
  };
  for (size_t i = 1; i <= kPolicies; ++i) {
    EXPECT_EQ(deletions(), i - 1);
    const int64_t wait_ns = keeper_.StepNs();
    EXPECT_EQ(deletions(), i);
    EXPECT_EQ(wait_ns == 0, i < kPolicies) << "there are more";
  }
  keeper_.StepNs();
  EXPECT_EQ(deletions(), kPolicies);
}

TEST_F(StatusKeeperTest, ANewTermTrustsOnlyTheServer) {
  Show(k8s::PolicyWith(1));
  Taken(215);
  keeper_.StepNs();
  k8s::WatchedPolicy other = k8s::PolicyWith(1);
  other.resource_version = "400";  // of another leader, meanwhile
  other.status = k8s::Aggregate(other, {}, {clock_.WallNs(), true, true, true});
  Show(other);
  keeper_.BeginTerm();
  keeper_.StepNs();
  EXPECT_EQ(Writes(), 1u) << "what the other leader found still holds";
  EXPECT_THAT(metrics_.Render({}),
              HasSubstr(R"(firetower_hub_writes_total{resource="status",result="written"} 1)"));
}

TEST_F(StatusKeeperTest, ForgetsWhatIsDeleted) {
  Show(k8s::PolicyWith(1));
  view_.policies = std::make_shared<const PolicyStore::Objects>();
  keeper_.Take(view_);
  keeper_.StepNs();
  EXPECT_EQ(Writes(), 0u);
}

}  // namespace
}  // namespace firetower::hub
