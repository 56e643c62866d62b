// SPDX-License-Identifier: Apache-2.0
#include "k8s/lease/lease_keeper.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/k8s/recording_api_server.h"

namespace firetower::k8s {
namespace {

using ::testing::HasSubstr;

// date -d 2026-11-21T19:43:27Z +%s
constexpr int64_t kWall = 1795290207 * kNsPerSecond;

std::string LeaseJson(std::string_view holder, int version) {
  return fmt::format(
      R"({{"kind":"Lease","metadata":{{"name":"firetower-hub","resourceVersion":"{}"}},"spec":)"
      R"({{"holderIdentity":"{}","leaseDurationSeconds":15,"renewTime":"{}","leaseTransitions":1}}}})",
      version, holder, version);
}

class LeaseKeeperTest : public ::testing::Test {
 protected:
  FakeClock clock_{50 * kNsPerSecond, kWall};
  RecordingApiServer server_;
  LeaseKeeper keeper_{server_, clock_, "firetower", "firetower-hub", {.identity = "me"}};
};

TEST_F(LeaseKeeperTest, CreatesRenewsAndReleases) {
  server_.Answer(404, R"({"kind":"Status"})");
  server_.Answer(201, LeaseJson("me", 1));
  EXPECT_EQ(keeper_.StepNs(), 2 * kNsPerSecond);
  ASSERT_EQ(server_.requests().size(), 2u);
  EXPECT_EQ(server_.requests()[0].target,
            "/apis/coordination.k8s.io/v1/namespaces/firetower/leases/firetower-hub");
  EXPECT_EQ(server_.last().method, "POST");
  EXPECT_THAT(server_.last().body, HasSubstr(R"("renewTime":"2026-11-21T19:43:27.000000Z")"));
  EXPECT_TRUE(keeper_.Leads());
  EXPECT_EQ(keeper_.terms(), 1u);

  clock_.Advance(2 * kNsPerSecond);
  server_.Answer(200, LeaseJson("me", 2));
  keeper_.StepNs();
  EXPECT_EQ(server_.requests().size(), 3u) << "a renewal is one request";
  EXPECT_EQ(server_.last().method, "PATCH");
  EXPECT_THAT(server_.last().body, HasSubstr(R"("resourceVersion":"1")"));
  EXPECT_EQ(keeper_.terms(), 1u);

  server_.Answer(200, LeaseJson("", 3));
  keeper_.Release(server_);
  EXPECT_FALSE(keeper_.Leads());
  EXPECT_THAT(server_.last().body, HasSubstr(R"("holderIdentity":"")"));
}

TEST_F(LeaseKeeperTest, StopsByItselfWhenTheServerIsAway) {
  server_.Answer(404);
  server_.Answer(201, LeaseJson("me", 1));
  keeper_.StepNs();
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(2 * kNsPerSecond - 1);
    EXPECT_TRUE(keeper_.Leads()) << i;
    keeper_.StepNs();
  }
  clock_.Advance(5);
  EXPECT_FALSE(keeper_.Leads());
  EXPECT_GT(keeper_.failures(), 0u);
}

TEST_F(LeaseKeeperTest, WhoIsSlowerDoesNotLead) {
  server_.Answer(404);
  server_.Answer(409, R"({"message":"already exists"})");
  keeper_.StepNs();
  EXPECT_FALSE(keeper_.Leads());
  EXPECT_EQ(keeper_.failures(), 0u) << "that is how elections end";
  server_.Answer(200, LeaseJson("other", 5));
  keeper_.StepNs();
  EXPECT_EQ(server_.requests().size(), 3u) << "a held lease is only looked at";
  clock_.Advance(15 * kNsPerSecond);
  server_.Answer(200, LeaseJson("other", 5));
  server_.Answer(200, LeaseJson("me", 6));
  keeper_.StepNs();
  EXPECT_TRUE(keeper_.Leads());
}

TEST_F(LeaseKeeperTest, SurvivesAnswersThatAreNoLease) {
  for (const char* body : {"", "{}", "[]", "<html>"}) {
    server_.Answer(200, body);
    EXPECT_EQ(keeper_.StepNs(), 2 * kNsPerSecond);
    EXPECT_FALSE(keeper_.Leads());
  }
}

}  // namespace
}  // namespace firetower::k8s
