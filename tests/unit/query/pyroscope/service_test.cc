// SPDX-License-Identifier: Apache-2.0
// Pyroscope's query API over the fixture's content, whose values are told in its header.
#include "query/pyroscope/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "profile/codec/gzip.h"
#include "profile/codec/pprof/wire_writer.h"
#include "profile/pprof.h"
#include "proto/pyroscope/querier.pb.h"
#include "query/pyroscope/connect.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query::pyroscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

constexpr int64_t kNowMs = Fixture::kNowNs / kNsPerMs;
constexpr const char* kCpu = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
constexpr const char* kSamples = "process_cpu:samples:count:cpu:nanoseconds";

std::string PathOf(const std::string& method) { return "/querier.v1.QuerierService/" + method; }

net::HttpRequest RequestOf(const std::string& method, std::string body,
                           const std::string& content_type = "application/json") {
  net::HttpRequest request;
  request.method = "POST";
  request.path = PathOf(method);
  request.body = std::move(body);
  request.content_type = content_type;
  return request;
}

class PyroscopeService : public ::testing::Test {
 protected:
  net::HttpResponse Post(const std::string& method, const Json& body) {
    return fixture_.api().Serve(RequestOf(method, body.dump()));
  }
  Json Ask(const std::string& method, const Json& body) {
    const net::HttpResponse response = Post(method, body);
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.content_type, "application/json");
    EXPECT_EQ(response.route, PathOf(method));
    return Json::parse(response.body, nullptr, false);
  }
  // A quarter of an hour up to now, of all CPU unless told otherwise.
  static Json Select(const Json& more = nullptr) {
    Json body = {{"profileTypeID", kCpu},
                 {"labelSelector", "{}"},
                 {"start", kNowMs - 900'000},
                 {"end", std::to_string(kNowMs)}};
    if (!more.is_null()) body.update(more);
    return body;
  }
  Json Graph(const Json& more) {
    return Ask("SelectMergeStacktraces", Select(more)).at("flamegraph");
  }
  void ExpectError(const net::HttpResponse& response, int status, const char* code,
                   const char* why) {
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_EQ(response.content_type, "application/json");
    const Json error = Json::parse(response.body, nullptr, false);
    EXPECT_EQ(error.value("code", ""), code);
    EXPECT_THAT(error.value("message", ""), HasSubstr(why));
  }
  Fixture fixture_;
};

TEST_F(PyroscopeService, TellsProfileTypes) {
  const Json types =
      Ask("ProfileTypes", {{"start", kNowMs - 900'000}, {"end", kNowMs}}).at("profileTypes");
  // Grafana takes the first one with "cpu" and without "samples", and shows it as cores.
  EXPECT_EQ(types, Json::parse(R"([
    {"ID":"process_cpu:cpu:nanoseconds:cpu:nanoseconds","name":"process_cpu","sampleType":"cpu",
     "sampleUnit":"nanoseconds","periodType":"cpu","periodUnit":"nanoseconds"},
    {"ID":"process_cpu:samples:count:cpu:nanoseconds","name":"process_cpu","sampleType":"samples",
     "sampleUnit":"count","periodType":"cpu","periodUnit":"nanoseconds"}])"));
}

TEST_F(PyroscopeService, AnswersGrafanasHealthCheck) {
  EXPECT_EQ(Ask("ProfileTypes", {{"start", 1000}, {"end", 4000}}), Json::object());
  net::HttpRequest binary =
      RequestOf("ProfileTypes", "\x08\xe8\x07\x10\xa0\x1f", "application/proto");
  binary.connect_version = "1";
  const net::HttpResponse response = fixture_.api().Serve(binary);
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.content_type, "application/proto");
  EXPECT_EQ(response.body, "");
}

TEST_F(PyroscopeService, TellsLabelsAndTheirValues) {
  const Json range = {{"start", kNowMs - 900'000}, {"end", kNowMs}};
  EXPECT_EQ(Ask("LabelNames", range)["names"],
            Json({"container", "namespace", "node", "pod", "service_name"}));
  const auto values = [&](const char* name, std::vector<std::string> matchers) {
    Json body = range;
    body.update({{"name", name}, {"matchers", std::move(matchers)}});
    return Ask("LabelValues", body).value("names", Json::array());
  };
  EXPECT_EQ(values("service_name", {}), Json({"sidecar", "sshd.service", "web"}));
  EXPECT_EQ(values("service_name", {"{namespace=\"shop\"}"}), Json({"sidecar", "web"}));
  EXPECT_EQ(values("container", {"{container=\"web\"}", "{namespace=\"-\"}"}),
            Json({"sshd.service", "web"}))
      << "what one of the matchers selects";
  EXPECT_EQ(values("__profile_type__", {}), Json::array({kCpu}));
  EXPECT_EQ(values("__name__", {}), Json::array({"process_cpu"}));
  EXPECT_EQ(values("__unit__", {}), Json::array({"nanoseconds"}));
  EXPECT_THAT(values("nonesuch", {}), IsEmpty());
  // Variables of dashboards ask by an id in front of the braces, and by labels of the type.
  EXPECT_EQ(values("pod", {std::string(kCpu) + "{}"}), Json({"-", "web-0"}));
  EXPECT_EQ(values("pod", {std::string("{__profile_type__=\"") + kSamples + "\"}"}),
            Json({"-", "web-0"}));
  EXPECT_EQ(values("pod", {"{__name__=\"process_cpu\",__type__=\"cpu\"}"}), Json({"-", "web-0"}));
  EXPECT_THAT(values("pod", {"{__type__=\"alloc_space\"}"}), IsEmpty());
  EXPECT_THAT(values("pod", {"{__profile_type__=\"memory:alloc_space:bytes:space:bytes\"}"}),
              IsEmpty());
}

TEST_F(PyroscopeService, TellsLabelSetsInTheOrderAsked) {
  // Without a time, as Grafana's Drilldown asks.
  const Json sets = Ask("Series", {{"labelNames", {"service_name", "__profile_type__"}},
                                   {"matchers", {"{namespace=\"shop\"}"}}})["labelsSet"];
  const auto labels = [](const char* service) {
    return Json{{"labels",
                 {{{"name", "service_name"}, {"value", service}},
                  {{"name", "__profile_type__"}, {"value", kCpu}}}}};
  };
  EXPECT_EQ(sets, Json({labels("sidecar"), labels("web")}));
  // Never an empty set.
  EXPECT_EQ(Ask("Series", {{"labelNames", {"nonesuch"}}}), Json::object());
  const Json all = Ask("Series", {{"matchers", {"{container=\"web\"}"}}})["labelsSet"];
  ASSERT_EQ(all.size(), 1u);
  Json::object_t found;
  for (const Json& label : all[0]["labels"]) found[label["name"]] = label["value"];
  EXPECT_EQ(Json(found), Json({{"__name__", "process_cpu"},
                               {"__profile_type__", kCpu},
                               {"__type__", "cpu"},
                               {"__unit__", "nanoseconds"},
                               {"__period_type__", "cpu"},
                               {"__period_unit__", "nanoseconds"},
                               {"container", "web"},
                               {"namespace", "shop"},
                               {"node", "node-1"},
                               {"pod", "web-0"},
                               {"service_name", "web"}}));
}

TEST_F(PyroscopeService, SaysThatThereIsData) {
  EXPECT_EQ(Ask("GetProfileStats", Json::object()),
            Json({{"dataIngested", true}, {"newestProfileTime", std::to_string(kNowMs)}}));
}

TEST_F(PyroscopeService, SelectsSeries) {
  const auto series = [&](Json more) {
    more.update({{"groupBy", {"service_name"}}, {"step", 60}});
    return Ask("SelectSeries", Select(more)).value("series", Json::array());
  };
  const auto of = [](const char* service, double value) {
    Json points = Json::array();
    for (const int64_t ago_s : {120, 60, 0}) {
      points.push_back({{"value", value}, {"timestamp", std::to_string(kNowMs - ago_s * 1000)}});
    }
    return Json{{"labels", {{{"name", "service_name"}, {"value", service}}}}, {"points", points}};
  };
  // A minute of web is 100 samples of 10 ms; a point stands at its end.
  EXPECT_EQ(series({{"labelSelector", "{namespace=\"shop\"}"}}),
            Json({of("sidecar", 2e8), of("web", 1e9)}));
  EXPECT_EQ(series({{"limit", 1}}), Json::array({of("web", 1e9)}));
  EXPECT_EQ(series({{"limit", 1}, {"profileTypeID", kSamples}}), Json::array({of("web", 100)}));
  // All together, and half minutes.
  const Json sum = Ask("SelectSeries", Select({{"step", 30}})).at("series");
  ASSERT_EQ(sum.size(), 1u);
  EXPECT_FALSE(sum[0].contains("labels"));
  ASSERT_EQ(sum[0]["points"].size(), 6u);
  EXPECT_EQ(sum[0]["points"][5], Json({{"value", 0.625e9}, {"timestamp", std::to_string(kNowMs)}}));
  // A range that begins and ends within steps has whole ones alone.
  const Json whole = Ask(
      "SelectSeries", Select({{"step", 60}, {"start", kNowMs - 130'000}, {"end", kNowMs - 1'000}}));
  ASSERT_EQ(whole["series"].size(), 1u);
  EXPECT_EQ(whole["series"][0]["points"],
            Json::array({{{"value", 1.25e9}, {"timestamp", std::to_string(kNowMs - 120'000)}},
                         {{"value", 1.25e9}, {"timestamp", std::to_string(kNowMs - 60'000)}}}));
}

TEST_F(PyroscopeService, RefusesSeriesThatItCannotMake) {
  const auto post = [&](const Json& more) { return Post("SelectSeries", Select(more)); };
  ExpectError(post({}), 400, "invalid_argument", "step is 0");
  ExpectError(post({{"step", 0.5}}), 400, "invalid_argument", "step is 0.5");
  ExpectError(post({{"step", -1}}), 400, "invalid_argument", "step is -1");
  ExpectError(post({{"step", 1}, {"start", kNowMs - 12'000'000}}), 400, "invalid_argument",
              "11000 points");
  ExpectError(post({{"step", 15}, {"aggregation", 1}}), 501, "unimplemented", "ask for the sum");
  ExpectError(post({{"step", 15}, {"stackTraceSelector", {{"callSite", {{{"name", "main"}}}}}}}),
              501, "unimplemented", "select by labels");
  ExpectError(post({{"step", 15}, {"profileTypeID", "goroutine:goroutine:count:goroutine:count"}}),
              400, "invalid_argument", "unknown profile type");
  ExpectError(post({{"step", 15}, {"labelSelector", "{pod="}}), 400, "invalid_argument",
              "label selector: selector column");
  ExpectError(post({{"step", 15}, {"start", kNowMs}, {"end", kNowMs - 1000}}), 400,
              "invalid_argument", "");
}

TEST_F(PyroscopeService, DrawsAFlameGraphInLevels) {
  const Json graph = Graph({{"labelSelector", "{container=\"web\"}"}});
  EXPECT_EQ(graph["total"], "3000000000");
  EXPECT_EQ(graph["maxSelf"], "1800000000");
  const std::vector<std::string> names = graph["names"];
  ASSERT_EQ(names[0], "total");
  // x from the end of the bar before, total, self, name: three minutes of 60, 30, 10 samples.
  std::vector<std::string> bars;
  for (const Json& level : graph["levels"]) {
    const Json& values = level["values"];
    ASSERT_EQ(values.size() % 4, 0u);
    for (size_t i = 0; i < values.size(); i += 4) {
      const size_t name = std::stoul(values[i + 3].get<std::string>());
      bars.push_back(values[i].get<std::string>() + " " + values[i + 1].get<std::string>() + " " +
                     values[i + 2].get<std::string>() + " " + names.at(name));
    }
    bars.emplace_back("-");
  }
  EXPECT_THAT(bars, ElementsAre("0 3000000000 0 total", "-", "0 3000000000 0 main", "-",
                                "0 300000000 300000000 Idle", "0 2700000000 0 Serve", "-",
                                "300000000 900000000 900000000 Encode",
                                "0 1800000000 1800000000 Parse", "-"));
}

TEST_F(PyroscopeService, DrawsWhatIsAskedFor) {
  EXPECT_EQ(Graph({{"profileTypeID", kSamples}})["total"], "375");
  const auto below = [&](std::vector<std::string> functions) {
    Json sites = Json::array();
    for (const std::string& name : functions) sites.push_back({{"name", name}});
    return Graph({{"stackTraceSelector", {{"callSite", sites}}}})["total"];
  };
  EXPECT_EQ(below({"main", "Serve"}), "2700000000");
  EXPECT_EQ(below({"main"}), "3750000000");
  // A prefix that no stack has gives an empty graph. Grafana still reads its first name.
  const Json empty = Json::parse(R"({"names":["total"],"levels":[{"values":["0","0","0","0"]}]})");
  EXPECT_EQ(Graph({{"stackTraceSelector", {{"callSite", {{{"name", "Serve"}}}}}}}), empty);
  EXPECT_EQ(Graph({{"labelSelector", "{pod=\"nonesuch\"}"}}), empty);
  EXPECT_EQ(Graph({{"spanSelector", {"9a517183f26a089d"}}}), empty);
  EXPECT_EQ(Graph({{"profileTypeID", "memory:alloc_space:bytes:space:bytes"}}), empty);
  EXPECT_EQ(Ask("SelectMergeSpanProfile", Select({{"spanSelector", {"9a517183f26a089d"}}})),
            Json({{"flamegraph", empty}}));
  EXPECT_EQ(Ask("SelectMergeSpanProfile", Select())["flamegraph"]["total"], "3750000000");
  // Nodes that are cut become `other`; the sum stays.
  const Json cut = Graph({{"maxNodes", 2}});
  EXPECT_EQ(cut["total"], "3750000000");
  EXPECT_THAT(cut["names"].get<std::vector<std::string>>(), ::testing::Contains("other"));
}

TEST_F(PyroscopeService, OtherFormats) {
  for (const char* format : {"PROFILE_FORMAT_TREE", "PROFILE_FORMAT_FUNCTIONS"}) {
    ExpectError(Post("SelectMergeStacktraces", Select({{"format", format}})), 501, "unimplemented",
                "PROFILE_FORMAT_FLAMEGRAPH");
  }
  const Json pprof = Ask("SelectMergeStacktraces", Select({{"format", "PROFILE_FORMAT_PPROF"}}))
                         .at("pprof")
                         .at("profile");
  EXPECT_EQ(pprof["sampleType"].size(), 1u);
  int64_t total = 0;
  for (const Json& sample : pprof["sample"]) {
    total += std::stoll(sample["value"][0].get<std::string>());
  }
  EXPECT_EQ(total, 3'750'000'000);
}

TEST_F(PyroscopeService, MergesPprofOfTheValueAskedFor) {
  profile::WireWriter select;
  select.Bytes(1, kSamples);
  select.Bytes(2, "{container=\"web\"}");
  select.Number(3, kNowMs - 900'000);
  select.Number(4, kNowMs);
  const net::HttpResponse response = fixture_.api().Serve(
      RequestOf("SelectMergeProfile", std::string(select.bytes()), "application/proto"));
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_FALSE(profile::IsGzip(response.body));
  const auto profile = profile::DecodePprof(response.body);
  ASSERT_TRUE(profile);
  EXPECT_THAT(profile->sample_types(), ElementsAre(profile::ValueType{"samples", "count"}));
  EXPECT_EQ(profile->Total(0), 300);
  EXPECT_EQ(profile->sample_count(), 3u);
}

TEST_F(PyroscopeService, ComparesTwoSides) {
  const Json web = Select({{"labelSelector", "{container=\"web\"}"}});
  Json first = web;
  first.update({{"start", kNowMs - 180'000}, {"end", kNowMs - 120'000}});
  const Json graph = Ask("Diff", {{"left", first}, {"right", web}}).at("flamegraph");
  EXPECT_EQ(graph["leftTicks"], "1000000000");
  EXPECT_EQ(graph["rightTicks"], "3000000000");
  EXPECT_EQ(graph["total"], "4000000000");
  EXPECT_EQ(graph["maxSelf"], "1800000000");
  EXPECT_EQ(graph["levels"][0]["values"],
            Json({"0", "1000000000", "0", "0", "3000000000", "0", "0"}));
  // A side of which there is nothing is empty, and the bars have seven numbers still.
  Json none = web;
  none["labelSelector"] = "{pod=\"nonesuch\"}";
  const Json alone = Ask("Diff", {{"left", none}, {"right", web}}).at("flamegraph");
  EXPECT_EQ(alone["levels"][0]["values"], Json({"0", "0", "0", "0", "3000000000", "0", "0"}));
  Json memory = web;
  memory["profileTypeID"] = "memory:alloc_space:bytes:space:bytes";
  ExpectError(Post("Diff", {{"left", memory}, {"right", web}}), 400, "invalid_argument",
              "ask for one type");
}

TEST_F(PyroscopeService, SpeaksConnectsErrors) {
  const auto serve = [&](const std::function<void(net::HttpRequest&)>& change) {
    net::HttpRequest request = RequestOf("LabelNames", "{}");
    change(request);
    return fixture_.api().Serve(request);
  };
  ExpectError(serve([](net::HttpRequest& r) { r.path = PathOf("SelectHeatmap"); }), 501,
              "unimplemented", "SelectHeatmap");
  const net::HttpResponse get = serve([](net::HttpRequest& r) { r.method = "GET"; });
  ExpectError(get, 405, "unimplemented", "takes POST");
  EXPECT_THAT(get.headers,
              ::testing::Contains(std::pair<std::string, std::string>("Allow", "POST")));
  ExpectError(serve([](net::HttpRequest& r) { r.content_type = "application/grpc"; }), 415,
              "invalid_argument", "application/proto");
  ExpectError(serve([](net::HttpRequest& r) { r.connect_version = "2"; }), 400, "invalid_argument",
              "version 1");
  ExpectError(serve([](net::HttpRequest& r) { r.content_encoding = "br"; }), 501, "unimplemented",
              "gzip");
  ExpectError(serve([](net::HttpRequest& r) { r.content_encoding = "gzip"; }), 400,
              "invalid_argument", "not gzip");
  ExpectError(serve([](net::HttpRequest& r) { r.body = "{"; }), 400, "invalid_argument", "JSON");
  ExpectError(serve([](net::HttpRequest& r) {
                r.content_type = "application/proto; charset=utf-8";
                r.body = "\x0a\x05";
              }),
              400, "invalid_argument", "protobuf");
  const std::string many(kMaxMessageBytes + 1, ' ');
  ExpectError(serve([&](net::HttpRequest& r) {
                r.content_encoding = "gzip";
                r.body = profile::GzipCompress(many, 1);
              }),
              429, "resource_exhausted", "");
  const net::HttpResponse zipped = serve([](net::HttpRequest& r) {
    r.content_encoding = "gzip";
    r.content_type = "Application/JSON; charset=utf-8";
    r.body = profile::GzipCompress("{\"matchers\":[\"{}\"]}", 1);
  });
  EXPECT_EQ(zipped.status, 200) << zipped.body;
}

TEST_F(PyroscopeService, KnowsWhoAsksAndWhatTheyMayRead) {
  fixture_.Change([](Fixture::Answers& answers) { answers.only_namespace = "shop"; });
  EXPECT_EQ(Ask("LabelValues", {{"name", "container"}})["names"], Json({"sidecar", "web"}));
  EXPECT_EQ(Graph({})["total"], "3600000000") << "without the host's";
  fixture_.Change([](Fixture::Answers& answers) {
    answers.refusal = Error(ErrorCode::kPermission, "name a namespace");
  });
  for (const char* method : {"LabelNames", "LabelValues", "Series", "SelectMergeProfile", "Diff",
                             "SelectMergeStacktraces", "SelectMergeSpanProfile"}) {
    ExpectError(Post(method, Json::object()), 403, "permission_denied", "name a namespace");
  }
  ExpectError(Post("SelectSeries", {{"step", 15}}), 403, "permission_denied", "name a namespace");
  // Neither has a selector in which to name it.
  const Json types = Ask("ProfileTypes", {{"start", 1000}, {"end", 4000}})["profileTypes"];
  EXPECT_EQ(types[0]["ID"], kCpu);
  EXPECT_EQ(Ask("GetProfileStats", Json::object()), Json({{"dataIngested", true}}));
  fixture_.Change([](Fixture::Answers& answers) {
    answers.unknown = Error(ErrorCode::kPermission, "no token");
  });
  for (const char* method : {"ProfileTypes", "LabelNames", "GetProfileStats", "nonesuch"}) {
    ExpectError(Post(method, Json::object()), 401, "unauthenticated", "no token");
  }
}

TEST_F(PyroscopeService, HasNoSettings) {
  net::HttpRequest request = RequestOf("", "{}");
  request.path = "/settings.v1.SettingsService/Get";
  EXPECT_EQ(fixture_.api().Serve(request).body, "{}");
}

TEST(PyroscopeLimits, AreThoseOfOtherAnswers) {
  Fixture rows({.max_rows = 5});
  Fixture bytes({.max_read_bytes = 200});
  Fixture memory({.max_merged_bytes = 10'000});
  const Json select = {{"profileTypeID", kCpu},
                       {"start", kNowMs - 900'000},
                       {"end", kNowMs},
                       {"step", 60},
                       {"left", {{"start", kNowMs - 900'000}}},
                       {"right", {{"start", kNowMs - 900'000}}}};
  const auto expect_too_large = [&](Fixture& fixture, const char* method, const char* why) {
    const net::HttpResponse response = fixture.api().Serve(RequestOf(method, select.dump()));
    EXPECT_EQ(response.status, 429) << method << ": " << response.body;
    EXPECT_THAT(response.body, HasSubstr("\"resource_exhausted\"")) << method;
    EXPECT_THAT(response.body, HasSubstr(why)) << method;
  };
  for (const char* method : {"SelectMergeStacktraces", "SelectMergeProfile", "Diff"}) {
    expect_too_large(rows, method, "more than 5 profiles match");
    expect_too_large(bytes, method, "bytes of profiles");
    // Width is no reason to have no answer.
    const net::HttpResponse coarse = memory.api().Serve(RequestOf(method, select.dump()));
    EXPECT_EQ(coarse.status, 200) << method << ": " << coarse.body;
  }
  for (const char* method : {"ProfileTypes", "LabelNames", "LabelValues", "Series", "SelectSeries"})
    expect_too_large(rows, method, "more than 5 profiles match");
}

TEST(ConnectMessages, AreGzippedWhereThePeerTakesThat) {
  const std::string message(4096, 'x');
  const auto respond = [&](const char* accept_encoding, const std::string& content) {
    net::HttpRequest request;
    request.accept_encoding = accept_encoding;
    return MessageResponse(request, Codec::kProto, *proto::pyroscope::Empty::descriptor(), content,
                           1 << 20)
        .value();
  };
  for (const char* accept : {"gzip", "br, GZIP;q=0.5", "identity, gzip"}) {
    const net::HttpResponse response = respond(accept, message);
    EXPECT_THAT(response.headers, ::testing::Contains(std::pair<std::string, std::string>(
                                      "Content-Encoding", "gzip")))
        << accept;
    EXPECT_EQ(profile::GzipDecompress(response.body, 1 << 20).value_or(""), message) << accept;
  }
  for (const char* accept : {"", "br", "gzip;q=0", "gzip; q=0.0", "xgzip"}) {
    EXPECT_EQ(respond(accept, message).body, message) << accept;
  }
  EXPECT_EQ(respond("gzip", "short").body, "short");
}

}  // namespace
}  // namespace firetower::query::pyroscope
