// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "net/url.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

class FlameEndpoint : public ::testing::Test {
 protected:
  net::HttpResponse Get(std::string_view target, const std::string& accept = "*/*") {
    net::HttpRequest request;
    request.method = "GET";
    size_t question = target.find('?');
    request.path = target.substr(0, question);
    request.accept = accept;
    if (question != std::string_view::npos) {
      request.params = *net::DecodeQuery(target.substr(question + 1));
    }
    return fixture_.api().Serve(request);
  }
  Json Flame(const std::string& query) {
    net::HttpResponse response = Get("/api/v1/flame?" + query);
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.content_type, "application/json");
    return Json::parse(response.body, nullptr, false);
  }
  // "level label value", in the order of the rows.
  std::vector<std::string> Rows(const std::string& query) {
    std::vector<std::string> rows;
    const Json json = Flame(query + "&format=nested");
    for (const Json& row : json.at("rows")) {
      rows.push_back(row["level"].dump() + " " + row["label"].get<std::string>() + " " +
                     row["value"].dump());
    }
    return rows;
  }
  Fixture fixture_;
};

std::string Header(const net::HttpResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST_F(FlameEndpoint, AddsUpTheStoreAndTheOpenWindow) {
  // Three minutes of web at 10 ms a sample: 180, 90 and 30 samples.
  EXPECT_THAT(Rows("q={container=\"web\"}"),
              ElementsAre("0 total 3000000000", "1 main 3000000000", "2 Idle 300000000",
                          "2 Serve 2700000000", "3 Encode 900000000", "3 Parse 1800000000"));
  // Only the open minute, and by count, which Pyroscope's type id asks for.
  EXPECT_THAT(Rows("q={container=\"sidecar\"}&from=2026-07-01T09:59:00Z&"
                   "type=process_cpu:samples:count:cpu:nanoseconds"),
              ElementsAre("0 total 20", "1 main 20", "2 Log 20"));
}

TEST_F(FlameEndpoint, LevelsSayWhatTheyAreOf) {
  Json json = Flame("q={container=\"web\"}");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["type"], "cpu");
  EXPECT_EQ(json["unit"], "nanoseconds");
  EXPECT_EQ(json["total"], 3'000'000'000);
  EXPECT_EQ(json["profiles"], 3);
  EXPECT_EQ(json["skipped"], 0);
  EXPECT_EQ(json["cut_nodes"], 0);
  // A quarter of an hour was asked for; there is something of the last three minutes.
  EXPECT_EQ(json["to_ms"].get<int64_t>() - json["from_ms"].get<int64_t>(), 900'000);
  EXPECT_EQ(json["to_ms"], Fixture::kNowNs / kNsPerMs);
  EXPECT_EQ(json["observed_seconds"], 180.0);
  EXPECT_EQ(json["levels"].size(), 4u);
  EXPECT_EQ(json["names"][0], "total");
  // Three containers at the same time do not add up to more time.
  EXPECT_EQ(Flame("")["observed_seconds"], 180.0);
}

TEST_F(FlameEndpoint, CutsAndSortsAsAsked) {
  EXPECT_THAT(Rows("q={container=\"web\"}&sort=value&max-nodes=3"),
              ElementsAre("0 total 3000000000", "1 main 3000000000", "2 Serve 2700000000",
                          "3 Parse 1800000000", "3 other 900000000", "2 other 300000000"));
  EXPECT_EQ(Flame("q={container=\"web\"}&max-nodes=3")["cut_nodes"], 2);
}

TEST_F(FlameEndpoint, ErrorsSayWhatIsAllowed) {
  struct Row {
    const char* query;
    int status;
    const char* says;
  } rows[] = {
      {"format=levls", 400, "did you mean 'levels'"},
      {"max-nodes=0", 400, "from 1 to 1048576"},
      {"max-nodes=1048577", 400, "from 1 to 1048576"},
      {"names=long", 400, "full, short or bare"},
      {"sort=size", 400, "name or value"},
      {"max_nodes=5", 400, "did you mean 'max-nodes'"},
      {"q={namespace=", 400, "selector column"},
      {"q={namespace=\"nope\"}", 404, "no profile matches cpu{namespace=\"nope\"}"},
      {"type=memory", 404, "no profile matches memory{}"},
  };
  for (const Row& row : rows) {
    net::HttpResponse response = Get("/api/v1/flame?" + std::string(row.query));
    EXPECT_EQ(response.status, row.status) << row.query << response.body;
    Json json = Json::parse(response.body, nullptr, false);
    EXPECT_THAT(json.value("message", ""), HasSubstr(row.says)) << row.query;
  }
}

TEST_F(FlameEndpoint, ShowsOnlyWhatTheCallerMaySee) {
  fixture_.Change([](Fixture::Answers& answers) { answers.only_namespace = "shop"; });
  EXPECT_EQ(Flame("")["total"], 3'600'000'000);
  fixture_.Change([](Fixture::Answers& answers) {
    answers.refusal = Error(ErrorCode::kPermission, "may not read profiles");
  });
  EXPECT_EQ(Get("/api/v1/flame").status, 403);
}

TEST_F(FlameEndpoint, SaysWhoseCodeEachNameIs) {
  const auto flame = Flame("");
  ASSERT_EQ(flame["domains"].get<std::string>().size(), flame["names"].size());
  EXPECT_EQ(flame["domains"].get<std::string>().substr(0, 2), "-a");  // total, main
}

TEST_F(FlameEndpoint, TurnsStacksAroundAndCutsThemAtAFunction) {
  // Parse is 180 of 375 samples of 10 ms, all below Serve.
  const auto callers = Flame("invert=true&show-from=%5EParse%24");
  EXPECT_EQ(callers["total"], 1'800'000'000);
  EXPECT_EQ(callers["names"], (nlohmann::json{"total", "Parse", "Serve", "main"}));
  const auto callees = Flame("show-from=%5EServe%24");
  EXPECT_EQ(callees["total"], 2'700'000'000);
  EXPECT_EQ(callees["names"], (nlohmann::json{"total", "Serve", "Encode", "Parse"}));
}

TEST_F(FlameEndpoint, ComparesTwoTimes) {
  // Each minute has the same; of 09:58 and 09:59 the base has one.
  const auto flame = Flame(
      "from=2026-07-01T09:58:00Z&to=2026-07-01T10:00:00Z&base-from=2026-07-01T09:57:00Z&"
      "base-to=2026-07-01T09:58:00Z&q=%7Bcontainer%3D%22web%22%7D");
  EXPECT_EQ(flame["total"], 2'000'000'000);
  EXPECT_EQ(flame["base_total"], 1'000'000'000);
  EXPECT_EQ(flame["base_profiles"], 1);
  EXPECT_EQ(flame["observed_seconds"], 120.0);
  EXPECT_EQ(flame["base_observed_seconds"], 60.0);
  EXPECT_EQ(flame["levels"][0], (nlohmann::json{0, 1'000'000'000, 0, 0, 2'000'000'000, 0, 0}));
}

TEST_F(FlameEndpoint, ASideOfAComparisonMayBeEmpty) {
  const std::string time = "from=2026-07-01T09:57:00Z&to=2026-07-01T09:58:00Z";
  const auto gone = Flame(time + "&q=%7Bpod%3D%22nope%22%7D&base-q=%7Bcontainer%3D%22web%22%7D");
  EXPECT_EQ(gone["total"], 0);
  EXPECT_EQ(gone["base_total"], 1'000'000'000);
  const auto fresh = Flame(time + "&q=%7Bcontainer%3D%22web%22%7D&base-q=%7Bpod%3D%22nope%22%7D");
  EXPECT_EQ(fresh["total"], 1'000'000'000);
  EXPECT_EQ(fresh["base_total"], 0);
  EXPECT_EQ(
      Get("/api/v1/flame?" + time + "&q=%7Bpod%3D%22a%22%7D&base-q=%7Bpod%3D%22b%22%7D").status,
      404);
  EXPECT_EQ(Get("/api/v1/flame?seconds=60&base-from=now-1h").status, 400);
  EXPECT_EQ(Get("/api/v1/flame?" + time + "&base-from=now-1h&format=svg").status, 400);
}

TEST_F(FlameEndpoint, DrawsFilesToo) {
  const net::HttpResponse svg = Get("/api/v1/flame?format=svg");
  EXPECT_EQ(svg.content_type, "image/svg+xml");
  EXPECT_THAT(svg.body, HasSubstr("Parse"));
  const net::HttpResponse html = Get("/api/v1/flame?format=html");
  EXPECT_THAT(html.body, StartsWith("<!doctype html>"));
  EXPECT_EQ(Header(html, "Content-Disposition"), "attachment");
  EXPECT_THAT(Get("/api/v1/flame?format=pdf").body, HasSubstr("levels, nested, svg or html"));
}

}  // namespace
}  // namespace firetower::query
