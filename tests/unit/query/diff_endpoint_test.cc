// SPDX-License-Identifier: Apache-2.0
#include "query/profiles/diff_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>

#include "net/url.h"
#include "profile/diff.h"
#include "profile/pprof.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::HasSubstr;

// Samples of each side of a difference.
struct Sums {
  int64_t after = 0;
  int64_t base = 0;
};

class DiffEndpointTest : public ::testing::Test {
 protected:
  net::HttpResponse Get(const std::string& query, std::stop_token gone = {}) {
    net::HttpRequest request;
    request.method = "GET";
    request.path = "/api/v1/diff";
    request.gone = std::move(gone);
    auto params = net::DecodeQuery(query);
    EXPECT_TRUE(params);
    request.params = *params;
    return fixture_.api().Serve(request);
  }
  Sums Diff(const std::string& query) {
    const net::HttpResponse response = Get(query);
    EXPECT_EQ(response.status, 200) << response.body;
    const auto profile = profile::DecodePprof(response.body);
    EXPECT_TRUE(profile);
    Sums sums;
    for (uint32_t i = 0; profile && i < profile->sample_count(); ++i) {
      const profile::Sample sample = profile->sample(i);
      const bool is_base = profile::IsBaseSample(*profile, sample);
      (is_base ? sums.base : sums.after) += sample.values[0];
    }
    return sums;
  }
  Fixture fixture_;
};

// Windows are whole minutes: 09:57:30 to 09:58:30 overlaps two.
TEST_F(DiffEndpointTest, TellsWhatTimeEachSideCovers) {
  const net::HttpResponse response =
      Get("from=2026-07-01T09:57:30Z&to=2026-07-01T09:58:30Z&base-from=2026-07-01T09:57:00Z");
  EXPECT_THAT(response.headers, ::testing::Contains(::testing::Pair("X-Firetower-Observed-Seconds",
                                                                    "120.000,60.000")));
}

// 250 samples are stored before 09:59, 125 are in the open window; it is 10:00.
TEST_F(DiffEndpointTest, SubtractsAnotherTime) {
  const Sums sums = Diff("from=2026-07-01T09:59:00Z&base-to=2026-07-01T09:59:00Z&base-from=15m");
  EXPECT_EQ(sums.after, 125);
  EXPECT_EQ(sums.base, -250);
}

TEST_F(DiffEndpointTest, ABaseWithOneEndIsAsLongAsTheOtherSide) {
  const std::string after = "from=2026-07-01T09:59:00Z&to=2026-07-01T10:00:00Z";
  EXPECT_EQ(Diff(after + "&base-to=2026-07-01T09:59:00Z").base,
            Diff(after + "&base-from=2026-07-01T09:58:00Z").base);
  EXPECT_LT(Diff(after + "&base-to=2026-07-01T09:59:00Z").base, 0);
  EXPECT_EQ(Diff(after + "&base-from=2026-07-01T09:59:00Z").base, -125);
}

TEST_F(DiffEndpointTest, SubtractsAnotherSelectorOfTheSameTime) {
  const Sums sums = Diff("q={container=\"web\"}&base-q={pod=~\"web.*\",container!=\"web\"}");
  EXPECT_EQ(sums.after, 300);
  EXPECT_EQ(sums.base, -60);
}

TEST_F(DiffEndpointTest, ScalesTheBaseWhereThatIsAskedFor) {
  const Sums sums =
      Diff("q={container=\"web\"}&base-q={pod=~\"web.*\",container!=\"web\"}&normalize=true");
  EXPECT_EQ(sums.after, 300);
  EXPECT_EQ(sums.base, -300);
}

TEST_F(DiffEndpointTest, ASideWithoutProfilesIsEmpty) {
  EXPECT_EQ(Diff("q={container=\"web\"}&base-q={container=\"nope\"}").after, 300);
  const Sums gone = Diff("q={container=\"nope\"}&base-q={container=\"web\"}");
  EXPECT_EQ(gone.after, 0);
  EXPECT_EQ(gone.base, -300);
  EXPECT_EQ(Get("q={container=\"nope\"}&base-q={container=\"no\"}").status, 404);
}

TEST_F(DiffEndpointTest, ErrorsAreTextThatGoToolPprofShows) {
  struct Row {
    const char* query;
    int status;
    const char* says;
  };
  const Row rows[] = {
      {"", 400, "give base-from, base-to or base-q"},
      {"base-q={", 400, "q"},
      {"base-from=yesterday", 400, "base-from"},
      {"base-from=now&base-to=now-1h", 400, "base-to must be after base-from"},
      {"base-from=1h&normalize=yes", 400, "'normalize' must be true or false"},
      {"base-from=1h&bas-to=now", 400, "bas-to"},
      {"q=cpu{}&base-q=offcpu{}", 400, "types cpu and offcpu cannot be compared"},
  };
  for (const Row& row : rows) {
    const net::HttpResponse response = Get(row.query);
    EXPECT_EQ(response.status, row.status) << row.query << ": " << response.body;
    EXPECT_THAT(response.body, HasSubstr(row.says)) << row.query;
    EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
    EXPECT_EQ(response.route, "/api/v1/diff");
  }
}

TEST_F(DiffEndpointTest, BothSidesAreWhatTheCallerMayRead) {
  fixture_.Change([](Fixture::Answers& answers) { answers.only_namespace = "-"; });
  const Sums sums = Diff("base-q={namespace=\"shop\"}");
  EXPECT_EQ(sums.after, 15);
  EXPECT_EQ(sums.base, 0);
  fixture_.Change([](Fixture::Answers& answers) {
    answers.refusal = Error(ErrorCode::kPermission, "you may not");
  });
  EXPECT_EQ(Get("base-from=1h").status, 403);
}

TEST_F(DiffEndpointTest, EndsOnceNobodyWaits) {
  std::stop_source gone;
  gone.request_stop();
  EXPECT_EQ(Get("base-from=1h", gone.get_token()).status, 503);
}

}  // namespace
}  // namespace firetower::query
