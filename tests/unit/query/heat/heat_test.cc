// SPDX-License-Identifier: Apache-2.0
// Heat maps, and questions about parts of windows, over the API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "net/url.h"
#include "profile/builder.h"
#include "profile/pprof.h"
#include "profile/times/timed_profile.h"
#include "query/heat/heat_reply.h"
#include "query/wire.h"
#include "store/bundle.h"
#include "store/key.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kSecond = kNsPerSecond;
// 09:50:00, ten minutes before the server's clock.
constexpr int64_t kBeginNs = Fixture::kNowNs - 600 * kSecond;
constexpr int64_t kWindowNs = 60 * kSecond;

struct Taken {
  std::string function;
  int64_t ms = 0;  // after kBeginNs
  std::string comm = "web";
};

profile::TimedProfile TimedOf(const std::vector<Taken>& taken, int64_t start_ns) {
  profile::ProfileBuilder builder(profile::CpuMeta(100, start_ns, kWindowNs));
  profile::SampleTimes times;
  for (const Taken& one : taken) {
    const profile::Line line{.function = builder.AddFunction(one.function, "", "")};
    const uint32_t location = builder.AddLocation(profile::kNoMapping, 0, {&line, 1});
    const profile::Label label = builder.StringLabel("comm", one.comm);
    const int64_t values[] = {1, 10'000'000};
    EXPECT_TRUE(builder.AddSample({&location, 1}, values, {&label, 1}));
    times.Add(kBeginNs + one.ms * kNsPerMs, builder.last_sample());
  }
  return {std::move(builder).Build(), times};
}

class HeatEndpoint : public ::testing::Test {
 protected:
  void Put(const std::string& pod, const std::vector<Taken>& taken, int64_t start_ns = kBeginNs,
           bool with_times = true) {
    const profile::TimedProfile timed = TimedOf(taken, start_ns);
    profile::TimedFiles files = profile::EncodeTimed(timed.profile, &timed.times);
    store::CatalogRow row;
    row.namespace_name = "shop";
    row.pod = pod;
    row.container = "web";
    row.node = "node-1";
    row.type = "cpu";
    row.unit = "nanoseconds";
    row.start_ns = start_ns;
    row.duration_ns = kWindowNs;
    row.samples = static_cast<int64_t>(taken.size());
    row.value = row.samples * 10'000'000;
    store::BundleWriter writer(start_ns);
    ASSERT_TRUE(writer.Add(row, files.pprof_gz, with_times ? files.times_gz : ""));
    const auto key =
        store::BuildKey(store::BundleKey{.cluster = "home",
                                         .start_s = start_ns / kSecond,
                                         .seconds = 60,
                                         .node = "node-1",
                                         .run = "heat" + std::to_string(1000 + ++runs_)});
    ASSERT_TRUE(key);
    ASSERT_TRUE(fixture_.store().Put(*key, *std::move(writer).Finish()));
  }
  net::HttpResponse Get(const std::string& path, const std::string& query) {
    net::HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.params = *net::DecodeQuery(query);
    return fixture_.api().Serve(request);
  }
  // The map of the first ten seconds, by default.
  HeatReply Heat(const std::string& more, const std::string& to = "now-590s") {
    const net::HttpResponse response =
        Get("/api/v1/heat", "q={pod=~\"heat.*\"}&from=now-10m&to=" + to + more);
    EXPECT_EQ(response.status, 200) << response.body;
    const auto reply = HeatReplyFromJson(response.body);
    EXPECT_TRUE(reply) << reply.error().message();
    return reply ? *reply : HeatReply();
  }
  Fixture fixture_;
  int runs_ = 0;
};

// 100 ms on at the begin of each second, and another function once a second at 500 ms.
std::vector<Taken> Bursts(int64_t seconds = 10) {
  std::vector<Taken> taken;
  for (int64_t second = 0; second < seconds; ++second) {
    for (int64_t ms = 0; ms < 100; ms += 10) taken.push_back({"burst", second * 1000 + ms});
    taken.push_back({"tick", second * 1000 + 505, "timer"});
  }
  return taken;
}

TEST_F(HeatEndpoint, ShowsTheRhythmWithinSeconds) {
  Put("heat-0", Bursts());
  const HeatReply heat = Heat("");
  EXPECT_EQ(heat.columns, 10);
  EXPECT_EQ(heat.rows.size(), 50u);
  EXPECT_EQ(heat.rows[25], "500");
  EXPECT_EQ(heat.samples, 110);
  EXPECT_EQ(heat.known, "tttttttttt");
  for (int64_t column = 0; column < 10; ++column) {
    for (size_t row = 0; row < 50; ++row)
      EXPECT_EQ(heat.cells[heat.At(column, row)], row < 5 ? 2u : row == 25 ? 1u : 0u);
  }
}

TEST_F(HeatEndpoint, HasFewerRowsOnRequest) {
  Put("heat-0", Bursts());
  const HeatReply heat = Heat("&rows=2");
  EXPECT_THAT(heat.rows, ElementsAre("0", "500"));
  EXPECT_EQ(heat.cells[0], 10u);
  EXPECT_EQ(heat.cells[1], 1u);
}

TEST_F(HeatEndpoint, PaintsTheCellsOfAFunction) {
  Put("heat-0", Bursts());
  const HeatReply heat = Heat("&paint=^ti.k$");
  EXPECT_EQ(heat.samples, 110);
  EXPECT_EQ(heat.painted_samples, 10);
  EXPECT_EQ(heat.painted[heat.At(3, 25)], 1u);
  EXPECT_EQ(heat.painted[heat.At(3, 0)], 0u);
}

TEST_F(HeatEndpoint, HasARowForEachPodOrProcess) {
  Put("heat-0", Bursts());
  Put("heat-1", {{"main", 2500}, {"main", 2999}});
  const HeatReply pods = Heat("&by=pod&step=1s");
  EXPECT_THAT(pods.rows, ElementsAre("heat-0", "heat-1"));
  EXPECT_EQ(pods.column_ms, 1000);
  EXPECT_EQ(pods.cells[pods.At(2, 0)], 11u);
  EXPECT_EQ(pods.cells[pods.At(2, 1)], 2u);
  EXPECT_EQ(pods.cells[pods.At(3, 1)], 0u);
  const HeatReply comms = Heat("&by=comm&step=500ms");
  EXPECT_THAT(comms.rows, ElementsAre("web", "timer"));
  EXPECT_EQ(comms.cells[comms.At(7, 1)], 1u);
  const HeatReply one = Heat("&by=comm&k=1&step=1s");
  EXPECT_THAT(one.rows, ElementsAre("other"));
  EXPECT_EQ(one.other_rows, 2);
  EXPECT_EQ(one.samples, 112);
}

TEST_F(HeatEndpoint, CountsOnlyWhatItsRangeHas) {
  Put("heat-0", Bursts());
  const HeatReply heat = Heat("", "now-597.5s");
  EXPECT_EQ(heat.columns, 3);
  EXPECT_EQ(heat.samples, 11 + 11 + 10);
}

// A window that begins and ends within columns is known in each that it touches.
TEST_F(HeatEndpoint, KnowsEachColumnThatAWindowTouches) {
  Put("heat-0", {{"main", 1000}}, kBeginNs + 900 * kNsPerMs);
  const HeatReply heat = Heat("&by=pod&step=20s", "now-530s");
  EXPECT_EQ(heat.known, "tttt");
}

// A sample whose stack had to wait for a table is in the next window.
TEST_F(HeatEndpoint, FindsASampleThatCameWithTheNextWindow) {
  Put("heat-0", Bursts(60));
  Put("heat-0", {{"late", 59'000}, {"next", 61'000}}, kBeginNs + kWindowNs);
  EXPECT_EQ(Heat("&paint=late", "now-9m").painted_samples, 1);
  EXPECT_EQ(Heat("&paint=next", "now-9m").painted_samples, 0);
}

TEST_F(HeatEndpoint, SaysWhatHasNoTimes) {
  Put("heat-0", Bursts(), kBeginNs, /*with_times=*/false);
  const HeatReply heat = Heat("");
  EXPECT_EQ(heat.known, "cccccccccc");
  EXPECT_EQ(heat.samples, 0);
  EXPECT_EQ(heat.untimed_samples, 110);
  EXPECT_THAT(heat.cells, Each(0u));
}

TEST_F(HeatEndpoint, SaysWhatIsWrong) {
  Put("heat-0", Bursts());
  const std::pair<std::string, std::string> cases[] = {
      {"by=pods", "did you mean 'pod'"},
      {"rows=7", "it must be 1, 2, 5, 10, 25 or 50"},
      {"by=pod&rows=5", "'rows' is for by=offset"},
      {"step=1s", "'step' has no effect by offset"},
      {"by=pod&step=30ms", "it must be a multiple of 20 ms"},
      {"paint=%28", "is not a regular expression"},
      {"from=now-300d", "at most 4000000 cells"},
  };
  for (const auto& [query, why] : cases) {
    const net::HttpResponse response = Get("/api/v1/heat", query);
    EXPECT_EQ(response.status, 400) << query;
    EXPECT_THAT(response.body, HasSubstr(why)) << query;
  }
  EXPECT_EQ(Get("/api/v1/heat", "q={pod=\"none\"}").status, 404);
}

std::map<std::string, int64_t> SamplesOf(const net::HttpResponse& response) {
  std::map<std::string, int64_t> samples;
  EXPECT_EQ(response.status, 200) << response.body;
  const auto profile = profile::DecodePprof(response.body);
  if (!profile) return samples;
  for (uint32_t i = 0; i < profile->sample_count(); ++i) {
    const profile::Sample sample = profile->sample(i);
    samples[profile->FrameName(profile->location(sample.locations[0]), 0)] += sample.values[0];
  }
  return samples;
}

using Samples = std::map<std::string, int64_t>;

TEST_F(HeatEndpoint, GivesThePartOfAWindowAsAProfile) {
  Put("heat-0", Bursts());
  const std::string asked = "q={pod=\"heat-0\"}&from=now-598s&to=now-595s";
  EXPECT_EQ(SamplesOf(Get("/api/v1/profile", asked)), (Samples{{"burst", 100}, {"tick", 10}}));
  const net::HttpResponse exact = Get("/api/v1/profile", asked + "&exact=true");
  EXPECT_EQ(SamplesOf(exact), (Samples{{"burst", 30}, {"tick", 3}}));
  EXPECT_THAT(exact.headers, ::testing::Contains(std::pair<std::string, std::string>(
                                 "X-Firetower-Observed-Seconds", "3.000")));
  EXPECT_EQ(SamplesOf(Get("/api/v1/profile", asked + "&offsets=500-520")), (Samples{{"tick", 3}}));
  EXPECT_EQ(SamplesOf(Get("/api/v1/profile", asked + "&offsets=40-500")), (Samples{{"burst", 18}}));
  const net::HttpResponse flame = Get("/api/v1/flame", asked + "&offsets=0-40&format=nested");
  EXPECT_THAT(flame.body, HasSubstr("\"burst\""));
  EXPECT_THAT(flame.body, ::testing::Not(HasSubstr("\"tick\"")));
}

TEST_F(HeatEndpoint, ListsTheTopOfAPart) {
  Put("heat-0", Bursts());
  const net::HttpResponse response = Get(
      "/api/v1/top", "by=functions&q={pod=\"heat-0\"}&from=now-10m&to=now-590s&offsets=500-600");
  ASSERT_EQ(response.status, 200) << response.body;
  const auto top = TopReplyFromJson(response.body);
  ASSERT_TRUE(top);
  ASSERT_EQ(top->functions.size(), 1u);
  EXPECT_EQ(top->functions[0].function, "tick");
  EXPECT_DOUBLE_EQ(top->observed_seconds, 10 * 0.1) << "ten seconds, 100 ms of each";
  EXPECT_EQ(Get("/api/v1/top", "exact=true").status, 400);
}

// One that is as busy in its part as it can be uses a core there, whatever its window has.
TEST_F(HeatEndpoint, GivesTheCoresOfAPart) {
  Put("heat-0", Bursts());
  const net::HttpResponse response =
      Get("/api/v1/top", "by=processes&q={pod=\"heat-0\"}&from=now-10m&to=now-590s&offsets=0-100");
  const auto top = TopReplyFromJson(response.body);
  ASSERT_TRUE(top) << response.body;
  ASSERT_EQ(top->processes.size(), 1u);
  EXPECT_NEAR(top->processes[0].cores, 1, 1e-9);
}

TEST_F(HeatEndpoint, ComparesAPartWithTheRest) {
  Put("heat-0", Bursts());
  const net::HttpResponse response =
      Get("/api/v1/diff",
          "q={pod=\"heat-0\"}&from=now-10m&to=now-590s&offsets=500-520&"
          "base-offsets=0-20");
  EXPECT_EQ(SamplesOf(response), (Samples{{"tick", 10}, {"burst", -20}}));
}

TEST_F(HeatEndpoint, CountsNothingForAPartThatIsNotKnown) {
  Put("heat-0", Bursts(), kBeginNs, /*with_times=*/false);
  const net::HttpResponse response =
      Get("/api/v1/profile", "q={pod=\"heat-0\"}&from=now-598s&to=now-595s&exact=true");
  EXPECT_NE(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr("does not say when its samples were taken"));
}

TEST_F(HeatEndpoint, RefusesOffsetsThatAreNone) {
  for (const char* offsets : {"100", "100-", "-100", "100-90", "0-1020", "10-30", "a-b"}) {
    const net::HttpResponse response = Get("/api/v1/flame", std::string("offsets=") + offsets);
    EXPECT_EQ(response.status, 400) << offsets;
    EXPECT_THAT(response.body, HasSubstr("two multiples of 20 ms")) << offsets;
  }
}

TEST(HeatReply, RefusesCellsThatDoNotFit) {
  HeatReply reply;
  reply.column_ms = 1000;
  reply.columns = 2;
  reply.rows = {"0", "500"};
  reply.known = "tt";
  reply.cells = {1, 2, 3, 4};
  EXPECT_TRUE(HeatReplyFromJson(ToJson(reply)));
  reply.cells.pop_back();
  EXPECT_FALSE(HeatReplyFromJson(ToJson(reply)));
  EXPECT_FALSE(HeatReplyFromJson("{}"));
  EXPECT_FALSE(HeatReplyFromJson("["));
}

}  // namespace
}  // namespace firetower::query
