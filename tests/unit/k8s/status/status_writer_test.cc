// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/status_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "k8s/status/timestamp.h"
#include "tests/support/k8s/recording_api_server.h"
#include "tests/unit/k8s/status/watched_policies.h"

namespace firetower::k8s {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kPath =
    "/apis/firetower.dev/v1alpha1/namespaces/shop/profilingpolicies/checkout";

TEST(StatusWriter, PatchesTheStatusOfOneState) {
  RecordingApiServer server;
  server.Answer(200, R"({"metadata":{"name":"checkout","resourceVersion":"215"}})");
  PolicyStatus status;
  status.observed_generation = 3;
  const WriteOutcome outcome = WriteStatus(server, PolicyWith(3), status);
  EXPECT_EQ(outcome.end, WriteEnd::kWritten);
  EXPECT_EQ(outcome.resource_version, "215");
  EXPECT_EQ(server.last().method, "PATCH");
  EXPECT_EQ(server.last().target, std::string(kPath) + "/status?fieldManager=firetower-hub");
  EXPECT_EQ(server.last().content_type, "application/merge-patch+json");
  EXPECT_THAT(server.last().body, HasSubstr(R"("metadata":{"resourceVersion":"214"})"));
}

TEST(StatusWriter, TellsWhatARefusalMeans) {
  const struct {
    int status;
    WriteEnd end;
  } kCases[] = {{409, WriteEnd::kConflict}, {404, WriteEnd::kGone},    {410, WriteEnd::kGone},
                {403, WriteEnd::kRefused},  {422, WriteEnd::kRefused}, {429, WriteEnd::kFailed},
                {500, WriteEnd::kFailed},   {503, WriteEnd::kFailed}};
  for (const auto& one : kCases) {
    RecordingApiServer server;
    server.Answer(one.status, R"({"kind":"Status","message":"so it is"})", 7);
    const WriteOutcome outcome = WriteStatus(server, PolicyWith(3), {});
    EXPECT_EQ(outcome.end, one.end) << one.status;
    EXPECT_EQ(outcome.status, one.status);
    EXPECT_EQ(outcome.message, "so it is");
    EXPECT_EQ(outcome.retry_after_ns, 7);
  }
  RecordingApiServer away;
  EXPECT_EQ(WriteStatus(away, PolicyWith(3), {}).end, WriteEnd::kFailed);
}

TEST(StatusWriter, DeletesOnlyWhatItSaw) {
  RecordingApiServer server;
  server.Answer(200);
  EXPECT_EQ(DeletePolicy(server, PolicyWith(3)).end, WriteEnd::kWritten);
  EXPECT_EQ(server.last().method, "DELETE");
  EXPECT_EQ(server.last().target, kPath);
  EXPECT_THAT(server.last().body,
              HasSubstr(fmt::format(R"("preconditions":{{"uid":"{}","resourceVersion":"214"}})",
                                    kPolicyUid)));
  WatchedPolicy cluster = PolicyWith(1);
  cluster.cluster = true;
  EXPECT_EQ(PolicyPath(cluster), "/apis/firetower.dev/v1alpha1/clusterprofilingpolicies/checkout");
}

TEST(Timestamp, IsWrittenAsKubernetesDoes) {
  EXPECT_EQ(TimeText(kCreatedNs + 999), "2026-11-21T19:43:27Z");
  EXPECT_EQ(MicroTimeText(kCreatedNs + 123999), "2026-11-21T19:43:27.000123Z");
}

}  // namespace
}  // namespace firetower::k8s
