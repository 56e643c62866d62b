// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/report.h"
#include "net/url.h"
#include "query/wire.h"
#include "tests/support/stores/rolled_out_pods.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::HasSubstr;

using ::firetower::testing::kMinuteNs;

// Deployments whose new pods have a function more, in the content of Fixture.
class RolloutSidesTest : public ::testing::Test {
 protected:
  void RollOut(const std::string& workload) {
    ::firetower::testing::PutRollout(fixture_.store(), Fixture::kNowNs, workload);
  }

  net::HttpResponse Get(const std::string& path, const std::string& query) {
    net::HttpRequest request;
    request.method = "GET";
    request.path = path;
    const auto params = net::DecodeQuery(query);
    EXPECT_TRUE(params);
    request.params = *params;
    return fixture_.api().Serve(request);
  }

  Fixture fixture_;
};

constexpr const char* kAsked = "q={workload=\"cart\"}&from=now-30m&base=rollout";

TEST_F(RolloutSidesTest, ListsRolloutsByTime) {
  RollOut("cart");
  const auto reply = RolloutsReplyFromJson(Get("/api/v1/rollouts", "from=now-30m").body);
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->rows.size(), 1u);
  EXPECT_EQ(reply->rows[0].workload, "cart");
  EXPECT_EQ(reply->rows[0].before, "44b");
  EXPECT_EQ(reply->rows[0].after, "55c");
  EXPECT_EQ(reply->rows[0].at_ms, (Fixture::kNowNs - 9 * kMinuteNs) / kNsPerMs);
}

TEST_F(RolloutSidesTest, ComparesThePodsOfBothRevisions) {
  RollOut("cart");
  const net::HttpResponse response = Get("/api/v1/diagnose", kAsked);
  ASSERT_EQ(response.status, 200) << response.body;
  const auto report = diagnosis::ReportFromJson(response.body);
  ASSERT_TRUE(report);
  ASSERT_FALSE(report->findings.empty());
  EXPECT_EQ(report->findings[0].signature, "new-hotspot");
  EXPECT_THAT(report->findings[0].cause, HasSubstr("Slow"));
}

TEST_F(RolloutSidesTest, FindsARolloutOfBeforeTheRange) {
  RollOut("cart");
  const net::HttpResponse response =
      Get("/api/v1/diff", "q={workload=\"cart\"}&from=now-6m&to=now-4m&base=rollout");
  ASSERT_EQ(response.status, 200) << response.body;
  // Two minutes of each: the base's end as the new pods begin.
  EXPECT_THAT(response.headers, ::testing::Contains(::testing::Pair("X-Firetower-Observed-Seconds",
                                                                    "120.000,120.000")));
}

TEST_F(RolloutSidesTest, SaysThatThereWasNone) {
  const net::HttpResponse response = Get("/api/v1/diagnose", kAsked);
  EXPECT_EQ(response.status, 404);
  EXPECT_THAT(response.body, HasSubstr("no roll-out to compare with"));
}

TEST_F(RolloutSidesTest, RefusesSeveralWorkloadsAtOnce) {
  RollOut("cart");
  RollOut("checkout");
  const net::HttpResponse response = Get("/api/v1/diagnose", "from=now-30m&base=rollout");
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("shop/cart and shop/checkout"));
}

TEST_F(RolloutSidesTest, RefusesOtherParametersOfTheBase) {
  EXPECT_THAT(Get("/api/v1/diagnose", "base=rollout&base-from=now-1h").body,
              HasSubstr("leave out 'base-from'"));
  EXPECT_THAT(Get("/api/v1/diagnose", "base=release").body, HasSubstr("it must be rollout"));
}

}  // namespace
}  // namespace firetower::query
