// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "diagnosis/report.h"
#include "net/url.h"
#include "profile/builder.h"
#include "profile/pprof.h"
#include "query/wire.h"
#include "store/bundle.h"
#include "store/key.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMinuteNs = 60 * kNsPerSecond;

// Deployments whose new pods have a function more, in the content of Fixture.
class RolloutSidesTest : public ::testing::Test {
 protected:
  // Stores the minute from so many minutes before now on, of one pod.
  void Store(int64_t before, const std::string& workload, const std::string& pod, bool is_slow) {
    const int64_t start_ns = Fixture::kNowNs - before * kMinuteNs;
    profile::ProfileBuilder builder(profile::CpuMeta(100, start_ns, kMinuteNs));
    const auto add = [&](const char* name, int64_t samples) {
      profile::Line line;
      line.function = builder.AddFunction(name, name, "");
      const uint32_t location =
          builder.AddLocation(profile::kNoMapping, 0x400000 + line.function * 16, {&line, 1});
      const int64_t values[] = {samples, samples * 10 * kNsPerMs};
      CHECK(builder.AddSample({&location, 1}, values));
    };
    add("Parse", 700);
    add("Encode", 300);
    if (is_slow) add("Slow", 500);
    const profile::Profile profile = std::move(builder).Build();
    store::CatalogRow row;
    row.namespace_name = "shop";
    row.workload = workload;
    row.pod = pod;
    row.container = "web";
    row.node = "node-1";
    row.type = "cpu";
    row.start_ns = start_ns;
    row.duration_ns = kMinuteNs;
    row.samples = profile.Total(0);
    row.value = profile.Total(1);
    row.unit = "nanoseconds";
    store::BundleWriter bundle(start_ns);
    CHECK(bundle.Add(row, profile::EncodePprof(profile)));
    store::BundleKey key;
    key.cluster = "local";
    key.start_s = start_ns / kNsPerSecond;
    key.seconds = 60;
    key.node = "node-1";
    key.run = fmt::format("{:08x}", ++stored_);
    const auto name = store::BuildKey(key);
    const auto bytes = std::move(bundle).Finish();
    CHECK(name && bytes && fixture_.store().Put(*name, *bytes));
  }

  // Until 9 minutes before now pods of revision 44b, then of 55c.
  void RollOut(const std::string& workload) {
    for (int64_t before = 16; before >= 10; --before)
      Store(before, workload, workload + "-44b-bbbbb", false);
    for (int64_t before = 9; before >= 4; --before)
      Store(before, workload, workload + "-55c-ccccc", true);
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
  int stored_ = 0;
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
