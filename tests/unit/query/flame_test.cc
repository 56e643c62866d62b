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

TEST_F(FlameEndpoint, BrowsersGetThePageAndScriptsTheList) {
  const std::string browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  net::HttpResponse page = Get("/", browser);
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(page.body, StartsWith("<!doctype html>"));
  EXPECT_EQ(Header(page, "Vary"), "Accept");
  EXPECT_EQ(Header(page, "Referrer-Policy"), "no-referrer");
  const std::string policy = Header(page, "Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  // The address of a view has parameters; they are the page's.
  EXPECT_EQ(Get("/?type=cpu&q={pod=\"a\"}&from=now-1h", browser).status, 200);
  EXPECT_EQ(Get("/?type=cpu&from=now-1h&to=now&q=%7B%7D&s=a&find=b", browser).status, 200);
  const net::HttpResponse misspelt = Get("/?form=now-1h", browser);
  EXPECT_EQ(misspelt.status, 400);
  EXPECT_THAT(misspelt.body, HasSubstr("unknown parameter 'form': / accepts type, q, from, to, s, "
                                       "find"));

  net::HttpResponse list = Get("/");
  EXPECT_THAT(list.content_type, StartsWith("text/plain"));
  EXPECT_THAT(list.body, HasSubstr("/api/v1/flame"));
  EXPECT_EQ(Header(list, "Vary"), "Accept");
}

}  // namespace
}  // namespace firetower::query
