// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster/node_reporter.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/k8s/recording_api_server.h"

namespace firetower::daemon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kSecond = kNsPerSecond;

k8s::NodeReport ReportOf(int64_t generation, int64_t pods = 1) {
  k8s::NodeReport report;
  report.node = "node-1";
  report.agent.version = "0.1.0";
  k8s::PolicyRow row;
  row.name = "checkout";
  row.uid = "u";
  row.generation = generation;
  row.pods = pods;
  report.policies = {row};
  return report;
}

class NodeReporterTest : public ::testing::Test {
 protected:
  // Scripts the API server's list of nodes: the first page, and how many follow.
  void Nodes(int64_t count) {
    server_.Answer(200, fmt::format(R"({{"metadata":{{"remainingItemCount":{}}},"items":[{{}}]}})",
                                    count - 1));
  }
  // Steps until `ns` have passed. Returns the clock's time at the last request.
  int64_t Run(int64_t ns) {
    const int64_t end = clock_.MonotonicNs() + ns;
    int64_t last = 0;
    while (clock_.MonotonicNs() < end) {
      const size_t before = server_.requests().size();
      const int64_t wait = std::max(reporter_.StepNs(), kNsPerMs);
      if (server_.requests().size() > before) last = clock_.MonotonicNs();
      clock_.Advance(std::min(wait, end - clock_.MonotonicNs()));
    }
    return last;
  }
  size_t Writes() const {
    return static_cast<size_t>(
        std::count_if(server_.requests().begin(), server_.requests().end(),
                      [](const k8s::ApiRequest& one) { return one.method == "PATCH"; }));
  }

  FakeClock clock_{100 * kSecond, 1795290207 * kSecond};
  k8s::RecordingApiServer server_;
  MetricsRegistry registry_;
  NodeReporter reporter_{server_, "node-1", registry_, clock_};
};

TEST_F(NodeReporterTest, WritesItsOwnObjectAtOnceInASmallCluster) {
  reporter_.StepNs();
  EXPECT_TRUE(server_.requests().empty()) << "there is nothing to tell";
  EXPECT_FALSE(reporter_.GetCheck());
  Nodes(3);
  server_.Answer(201);
  reporter_.Report(ReportOf(1));
  const int64_t began = clock_.MonotonicNs();
  EXPECT_LE(Run(kSecond) - began, kSecond / 10);
  EXPECT_EQ(server_.requests()[0].target, "/api/v1/nodes?limit=1");
  ASSERT_EQ(Writes(), 1u);
  EXPECT_EQ(server_.last().target,
            "/apis/firetower.dev/v1alpha1/profilingnodes/"
            "node-1?fieldManager=firetower-agent&force=true");
  EXPECT_EQ(server_.last().content_type, "application/apply-patch+yaml");
  EXPECT_EQ(reporter_.GetCheck()->status, CheckStatus::kOk);
}

TEST_F(NodeReporterTest, WritesNothingThatIsNotNew) {
  Nodes(1);
  server_.Answer(201);
  reporter_.Report(ReportOf(1));
  Run(kSecond);
  for (int i = 0; i < 60; ++i) {
    reporter_.Report(ReportOf(1));
    Run(20 * kSecond);
  }
  EXPECT_EQ(Writes(), 1u);
  server_.Answer(200);
  Run(3600 * kSecond);
  EXPECT_EQ(Writes(), 2u) << "somebody may have deleted it";
}

TEST_F(NodeReporterTest, SpreadsOverTheSizeOfTheCluster) {
  int64_t latest = 0;
  int64_t sum = 0;
  for (int i = 0; i < 200; ++i) {
    k8s::RecordingApiServer server;
    server.Answer(200, R"({"metadata":{"remainingItemCount":4999},"items":[{}]})");
    server.Answer(201);
    FakeClock clock(100 * kSecond, 0);
    NodeReporter reporter(server, "node-" + std::to_string(i), registry_, clock);
    reporter.Report(ReportOf(1));
    int64_t took = 0;
    while (server.requests().size() < 2) {
      took = clock.MonotonicNs() - 100 * kSecond;
      clock.Advance(std::max(reporter.StepNs(), kNsPerMs));
    }
    latest = std::max(latest, took);
    sum += took;
  }
  // 5,000 nodes at 50 a second; evenly.
  EXPECT_LE(latest, 101 * kSecond);
  EXPECT_NEAR(static_cast<double>(sum) / 200 / kSecond, 50, 8);
}

TEST_F(NodeReporterTest, CountsAloneAreTooFewToBeToldAtOnce) {
  Nodes(1);
  server_.Answer(201);
  reporter_.Report(ReportOf(1, 1));
  const int64_t first = Run(kSecond);
  server_.Answer(200);
  reporter_.Report(ReportOf(1, 2));
  const int64_t second = Run(90 * kSecond);
  EXPECT_EQ(Writes(), 2u);
  EXPECT_GE(second - first, NodeReporter::kCountsNs);
  // A new generation does not wait for them.
  reporter_.Report(ReportOf(1, 3));
  Run(kSecond);
  server_.Answer(200);
  reporter_.Report(ReportOf(2, 3));
  Run(kSecond);
  EXPECT_EQ(Writes(), 3u);
}

// A reason is news, as counts are not.
TEST_F(NodeReporterTest, WhatIsWrongIsToldAtOnceAndWhenItIsOver) {
  Nodes(3);
  server_.Answer(201);
  reporter_.Report(ReportOf(1));
  Run(kSecond);
  ASSERT_EQ(Writes(), 1u);
  k8s::NodeReport cut = ReportOf(1);
  cut.policies[0].reason = "StoreUnreachable";
  cut.policies[0].message = "the store refused the last object";
  server_.Answer(200);
  reporter_.Report(cut);
  Run(kSecond);
  ASSERT_EQ(Writes(), 2u);
  EXPECT_NE(server_.last().body.find(R"("reason":"StoreUnreachable")"), std::string::npos);
  server_.Answer(200);
  reporter_.Report(ReportOf(1));
  Run(kSecond);
  ASSERT_EQ(Writes(), 3u);
  EXPECT_EQ(server_.last().body.find("StoreUnreachable"), std::string::npos);
}

// A report that changes all the time is still written.
TEST_F(NodeReporterTest, ChangesDoNotPutAWriteOff) {
  Nodes(100);
  reporter_.StepNs();
  for (int i = 0; i < 100; ++i) server_.Answer(200);
  for (int i = 0; i < 100; ++i) {
    reporter_.Report(ReportOf(i));
    Run(kSecond / 10);
  }
  EXPECT_GE(Writes(), 8u);
}

TEST_F(NodeReporterTest, ARefusalCostsThisAloneAndIsSaid) {
  Nodes(1);
  server_.Answer(403, R"({"message":"may not patch profilingnodes"})");
  reporter_.Report(ReportOf(1));
  Run(59 * kSecond);
  EXPECT_EQ(Writes(), 1u) << "tried again every minute or two";
  ASSERT_TRUE(reporter_.GetCheck());
  EXPECT_EQ(reporter_.GetCheck()->status, CheckStatus::kWarn);
  EXPECT_THAT(reporter_.GetCheck()->message, HasSubstr("may not patch profilingnodes"));
  EXPECT_THAT(reporter_.GetCheck()->fix, HasSubstr("grant create and patch"));
  EXPECT_THAT(registry_.Render(ExpositionFormat::kText),
              HasSubstr(R"(firetower_kube_synced{resource="profilingnodes"} 0)"));
  for (int i = 0; i < 20; ++i)
    server_.Answer(404, R"({"message":"the server could not find the requested resource"})");
  Run(120 * kSecond);
  EXPECT_THAT(reporter_.GetCheck()->fix, HasSubstr("CustomResourceDefinitions"));
}

TEST_F(NodeReporterTest, ADefinitionThatIsInstalledLateIsFoundSoon) {
  Nodes(1);
  for (int i = 0; i < 100; ++i) server_.Answer(404, R"({"message":"could not find it"})");
  reporter_.Report(ReportOf(1));
  int64_t last = Run(kSecond);
  for (int i = 0; i < 20; ++i) {
    const int64_t next = Run(15 * kSecond);
    ASSERT_GT(next, last) << "each quarter of a minute";
    last = next;
  }
  EXPECT_LE(Writes(), 1u + 20 * 15 / 10) << "and it does not spin";
}

TEST_F(NodeReporterTest, BacksOffAlsoWhenItHasNews) {
  for (int i = 0; i < 600; ++i) {
    reporter_.Report(ReportOf(i));
    Run(kSecond / 5);
  }
  // Two minutes of a server that is away: client-go's spans give about ten tries.
  EXPECT_GE(Writes(), 4u);
  EXPECT_LE(Writes(), 30u);
}

TEST_F(NodeReporterTest, TellsOfFirings) {
  k8s::ProfilingPolicy policy;
  policy.name = "checkout";
  policy.namespace_name = "shop";
  reporter_.PostFiring(policy, nullptr, "of a file");
  reporter_.StepNs();
  EXPECT_TRUE(server_.requests().empty());
  policy.uid = "u-1";
  k8s::Pod pod;
  pod.namespace_name = "shop";
  pod.name = "cart-0";
  server_.Answer(201);
  reporter_.PostFiring(policy, &pod, "ContainerCPU 93 % > 80 %");
  reporter_.StepNs();
  ASSERT_EQ(server_.requests().size(), 1u);
  EXPECT_EQ(server_.last().target, "/apis/events.k8s.io/v1/namespaces/shop/events");
  EXPECT_THAT(server_.last().body, AllOf(HasSubstr("TriggerFired"), HasSubstr("cart-0"),
                                         HasSubstr("ContainerCPU 93 % > 80 %")));
}

TEST_F(NodeReporterTest, SaysThatEventsAreRefused) {
  k8s::ProfilingPolicy policy;
  policy.uid = "u-1";
  policy.name = "checkout";
  EXPECT_FALSE(reporter_.GetEventCheck()) << "there was none yet";
  server_.Answer(403, R"({"message":"events is forbidden"})");
  reporter_.PostFiring(policy, nullptr, "first");
  reporter_.StepNs();
  ASSERT_TRUE(reporter_.GetEventCheck());
  EXPECT_EQ(reporter_.GetEventCheck()->status, CheckStatus::kWarn);
  EXPECT_THAT(reporter_.GetEventCheck()->message, HasSubstr("events is forbidden"));
  EXPECT_THAT(reporter_.GetEventCheck()->fix, HasSubstr("grant create and patch of events"));
  server_.Answer(201);
  clock_.Advance(120 * kSecond);
  reporter_.PostFiring(policy, nullptr, "second");
  reporter_.StepNs();
  EXPECT_FALSE(reporter_.GetEventCheck());
}

TEST_F(NodeReporterTest, AFloodOfFiringsIsDroppedAndCounted) {
  k8s::ProfilingPolicy policy;
  policy.uid = "u-1";
  policy.name = "checkout";
  for (int i = 0; i < 1000; ++i) reporter_.PostFiring(policy, nullptr, "again");
  reporter_.StepNs();
  EXPECT_EQ(server_.requests().size(), 1u);
  EXPECT_THAT(registry_.Render(ExpositionFormat::kText),
              HasSubstr(R"(resource="events",reason="queue_full"} 900)"));
}

}  // namespace
}  // namespace firetower::daemon
