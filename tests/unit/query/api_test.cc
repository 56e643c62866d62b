// SPDX-License-Identifier: Apache-2.0
#include "query/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>

#include "diagnosis/report.h"
#include "net/url.h"
#include "profile/pprof.h"
#include "query/http/errors.h"
#include "query/wire.h"
#include "store/capture.h"
#include "store/key.h"
#include "tests/support/sample_profiles.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class ApiTest : public ::testing::Test {
 protected:
  net::HttpResponse Get(std::string_view target, const std::string& method = "GET") {
    net::HttpRequest request;
    request.method = method;
    size_t question = target.find('?');
    request.path = target.substr(0, question);
    request.accept = "text/x";
    if (question != std::string_view::npos) {
      auto params = net::DecodeQuery(target.substr(question + 1));
      EXPECT_TRUE(params);
      request.params = *params;
    }
    return fixture_.api().Serve(request);
  }
  TopReply Top(std::string_view query) {
    net::HttpResponse response = Get("/api/v1/top?" + std::string(query));
    EXPECT_EQ(response.status, 200) << response.body;
    auto reply = TopReplyFromJson(response.body);
    EXPECT_TRUE(reply) << reply.error().message();
    return reply ? *reply : TopReply();
  }
  profile::Profile Profile(std::string_view query) {
    net::HttpResponse response = Get("/api/v1/profile?" + std::string(query));
    EXPECT_EQ(response.status, 200) << response.body;
    auto profile = profile::DecodePprof(response.body);
    EXPECT_TRUE(profile) << profile.error().message();
    return profile ? *profile : profile::Profile();
  }
  Fixture fixture_;
};

std::string Header(const net::HttpResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST_F(ApiTest, IndexAndNotFoundNameThePaths) {
  for (const char* path : {"/livez", "/metrics", "/api/v1/profile", "/api/v1/top"}) {
    EXPECT_THAT(Get("/").body, HasSubstr(path));
    EXPECT_THAT(Get("/nope").body, HasSubstr(path));
  }
  EXPECT_EQ(Get("/nope").status, 404);
  EXPECT_EQ(Get("/api/v1/").status, 404);
  EXPECT_EQ(Get("/nope").route, "");
  EXPECT_EQ(Get("/livez").route, "/livez");
}

TEST_F(ApiTest, TakesGetAndHeadOnly) {
  EXPECT_EQ(Get("/livez", "HEAD").status, 200);
  net::HttpResponse post = Get("/api/v1/top", "POST");
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(Header(post, "Allow"), "GET, HEAD");
}

TEST_F(ApiTest, ProbesSayWhatIsMissing) {
  EXPECT_EQ(Get("/livez").body, "ok\n");
  EXPECT_EQ(Get("/readyz").body, "ok\n");
  fixture_.Change([](Fixture::Answers& answers) { answers.not_ready = {"no sample yet"}; });
  EXPECT_EQ(Get("/readyz?verbose").status, 503);
  EXPECT_EQ(Get("/readyz").body, "not ready: no sample yet\n");
}

TEST_F(ApiTest, MetricsComeFromTheirSource) {
  net::HttpResponse response = Get("/metrics");
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4");
  EXPECT_EQ(response.body, "# accept text/x\n");
}

TEST_F(ApiTest, ProfileMergesTheStoreAndTheOpenWindow) {
  profile::Profile all = Profile("");
  EXPECT_EQ(all.Total(0), 375);
  EXPECT_EQ(all.Total(1), 3'750'000'000);
  EXPECT_EQ(Profile("q={container=\"web\"}").Total(0), 300);
  EXPECT_EQ(Profile("q=cpu{pod=~\"web.*\",container!=\"web\"}").Total(0), 60);
  // Only what is stored; only the open window.
  EXPECT_EQ(Profile("to=2026-07-01T09:59:00Z").Total(0), 250);
  EXPECT_EQ(Profile("from=2026-07-01T09:59:00Z").Total(0), 125);
}

TEST_F(ApiTest, ProfileSecondsCountsBackFromNow) {
  EXPECT_EQ(Profile("seconds=30").Total(0), 125);
  EXPECT_EQ(Profile("seconds=90").Total(0), 250);
  EXPECT_EQ(Get("/api/v1/profile?seconds=30&from=now-1h").status, 400);
  EXPECT_EQ(Get("/api/v1/profile?seconds=0").status, 400);
}

TEST_F(ApiTest, ProfileIsADownloadWithAName) {
  net::HttpResponse response = Get("/api/v1/profile?from=2026-07-01T09:50:00Z");
  EXPECT_EQ(response.content_type, "application/octet-stream");
  EXPECT_EQ(Header(response, "Content-Disposition"),
            "attachment; filename=\"cpu-20260701T095000Z-600s.pb.gz\"");
  EXPECT_EQ(response.body.substr(0, 2), "\x1f\x8b");
}

TEST_F(ApiTest, ProfileErrorsAreTextThatGoToolPprofShows) {
  struct Row {
    const char* query;
    int status;
    const char* says;
  } rows[] = {
      {"q={namespace=", 400, "selector column"},
      {"q={a=~\"(\"}", 400, "q:"},
      {"from=noon", 400, "'noon' is not a time"},
      {"from=now-1h&to=now-2h", 400, "not before"},
      {"type=cqu", 400, "cpu"},
      {"type=memory&q=cpu{pod=\"a\"}", 400, "type=memory and q name two types (q: cpu)"},
      {"fron=now-1h", 400, "did you mean 'from'"},
      {"q={pod=\"a\"}&q={pod=\"b\"}", 400, "given twice"},
      {"q={namespace=\"nope\"}", 404, "no profile matches cpu{namespace=\"nope\"}"},
      {"type=offcpu", 404, "no profile matches offcpu{}"},
  };
  for (const Row& row : rows) {
    net::HttpResponse response = Get("/api/v1/profile?" + std::string(row.query));
    EXPECT_EQ(response.status, row.status) << row.query;
    EXPECT_EQ(Header(response, "X-Go-Pprof"), "1") << row.query;
    EXPECT_THAT(response.content_type, HasSubstr("text/plain")) << row.query;
    EXPECT_THAT(response.body, HasSubstr(row.says)) << row.query;
  }
}

TEST_F(ApiTest, TakesPyroscopesTypeIds) {
  EXPECT_EQ(Profile("type=process_cpu:cpu:nanoseconds:cpu:nanoseconds").Total(0), 375);
  EXPECT_EQ(
      Profile("q={__profile_type__=\"process_cpu:cpu:nanoseconds:cpu:nanoseconds\"}").Total(0),
      375);
}

TEST_F(ApiTest, TopContainersAreOrderedByCpu) {
  TopReply top = Top("");
  EXPECT_EQ(top.by, "containers");
  EXPECT_EQ(top.unit, "nanoseconds");
  EXPECT_EQ(top.total_rows, 3);
  EXPECT_EQ(top.total, 3'750'000'000);
  EXPECT_DOUBLE_EQ(top.observed_seconds, 180);
  ASSERT_EQ(top.containers.size(), 3u);
  const TopContainer& web = top.containers[0];
  EXPECT_EQ(web.namespace_name, "shop");
  EXPECT_EQ(web.pod, "web-0");
  EXPECT_EQ(web.container, "web");
  EXPECT_EQ(web.samples, 300);
  EXPECT_NEAR(web.share_percent, 80, 1e-9);
  EXPECT_NEAR(web.cores, 3.0 / 180, 1e-9);
  EXPECT_EQ(web.hottest_function, "Parse");
  EXPECT_EQ(web.hottest_module, "/usr/bin/web");
  EXPECT_NEAR(web.hottest_percent, 60, 1e-9);
  EXPECT_EQ(top.containers[2].container, "sshd.service");
  EXPECT_EQ(Top("k=1").containers.size(), 1u);
  EXPECT_EQ(Top("k=1").total_rows, 3);
}

TEST_F(ApiTest, TopContainersCountTheirPartOfAWindow) {
  // Half of the open window.
  TopReply top = Top("from=2026-07-01T09:59:30Z");
  EXPECT_DOUBLE_EQ(top.observed_seconds, 30);
  ASSERT_FALSE(top.containers.empty());
  EXPECT_EQ(top.containers[0].samples, 50);
  EXPECT_NEAR(top.containers[0].cores, 0.5 / 30, 1e-9);
}

// A flame graph of the same range has the same values.
TEST_F(ApiTest, TopFunctionsAreOfTheTimeOfWholeWindows) {
  const TopReply top = Top("by=functions&from=2026-07-01T09:59:30Z");
  EXPECT_EQ(top.total, 3'750'000'000 / 3);
  EXPECT_DOUBLE_EQ(top.observed_seconds, 60);
}

TEST_F(ApiTest, TopFunctionsNameTheirContainers) {
  TopReply top = Top("by=functions&k=3");
  EXPECT_EQ(top.total_rows, 9);  // main is three functions, one a binary
  ASSERT_EQ(top.functions.size(), 3u);
  EXPECT_EQ(top.functions[0].function, "Parse");
  EXPECT_EQ(top.functions[0].self, 1'800'000'000);
  EXPECT_NEAR(top.functions[0].self_percent, 48, 1e-9);
  EXPECT_THAT(top.functions[0].containers, ElementsAre("shop/web-0/web"));
  EXPECT_EQ(top.functions[1].function, "Encode");
  EXPECT_EQ(top.functions[2].function, "Log");
  TopReply all = Top("by=functions&k=1000");
  for (const TopFunction& row : all.functions) {
    if (row.function == "Serve") {
      EXPECT_EQ(row.self, 0);
      EXPECT_EQ(row.total, 2'700'000'000);
    }
  }
}

TEST_F(ApiTest, TopLinesAreFunctionsWhereNoLineIsKnown) {
  const TopReply top = Top("by=lines&k=3");
  EXPECT_EQ(top.by, "lines");
  ASSERT_EQ(top.functions.size(), 3u);
  EXPECT_EQ(top.functions[0].function, "Parse");
  EXPECT_EQ(top.functions[0].self, 1'800'000'000);
  EXPECT_EQ(top.functions[0].line, 0);
  EXPECT_EQ(top.total_rows, 9);
  EXPECT_THAT(Top("by=lines&type=offcpu").functions, IsEmpty());
}

TEST_F(ApiTest, TopProcessesHaveTheirHottestStack) {
  const TopReply top = Top("by=processes&k=2");
  EXPECT_EQ(top.by, "processes");
  EXPECT_EQ(top.total_rows, 3);
  EXPECT_EQ(top.total, 3'750'000'000);
  EXPECT_DOUBLE_EQ(top.observed_seconds, 180);
  ASSERT_EQ(top.processes.size(), 2u);
  const TopProcess& web = top.processes[0];
  EXPECT_EQ(web.container, "web");
  EXPECT_EQ(web.process, "") << "these profiles name none";
  EXPECT_EQ(web.samples, 300);
  EXPECT_NEAR(web.share_percent, 80, 1e-9);
  EXPECT_NEAR(web.cores, 3.0 / 180, 1e-9);
  EXPECT_THAT(web.hottest_stack, ElementsAre("main", "Serve", "Parse"));
  EXPECT_NEAR(web.hottest_percent, 60, 1e-9);
}

TEST_F(ApiTest, DiagnosesWhatMatches) {
  const auto report = diagnosis::ReportFromJson(Get("/api/v1/diagnose?q={container=\"web\"}").body);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->type, "cpu");
  EXPECT_EQ(report->samples, 300);
  EXPECT_EQ(report->verdict.domain, diagnosis::Domain::kApplication);
  EXPECT_EQ(report->verdict.function, "Parse");
  EXPECT_NEAR(report->verdict.function_percent, 60, 1e-9);
  EXPECT_THAT(report->findings, IsEmpty());
  EXPECT_EQ(Get("/api/v1/diagnose?q={namespace=\"nope\"}").status, 404);
  EXPECT_EQ(Get("/api/v1/diagnose?form=x").status, 400);
}

TEST_F(ApiTest, DiagnosesWhatHasGrown) {
  // The minutes are alike, and twice as many containers are twice as busy.
  const std::string minute = "&from=2026-07-01T09:59:00Z&base-from=2026-07-01T09:58:00Z";
  const auto report =
      diagnosis::ReportFromJson(Get("/api/v1/diagnose?q={container=\"web\"}" + minute).body);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->samples, 100);
  EXPECT_THAT(report->findings, IsEmpty());
  const auto other = diagnosis::ReportFromJson(
      Get("/api/v1/diagnose?q={pod=\"web-0\"}&base-q={container=\"sidecar\"}").body);
  ASSERT_TRUE(other) << other.error().message();
  ASSERT_EQ(other->findings.size(), 2u);
  EXPECT_EQ(other->findings[0].signature, "new-hotspot");
  EXPECT_THAT(other->findings[1].cause, HasSubstr("Encode of /usr/bin/web takes 25.00 %"));
  EXPECT_THAT(other->findings[0].cause,
              HasSubstr("Parse of /usr/bin/web takes 50.00 % where it took 0.00 % before"));
  EXPECT_THAT(Get("/api/v1/diagnose?type=offcpu&base-from=1h").body, HasSubstr("type cpu"));
  EXPECT_EQ(Get("/api/v1/diagnose?q={container=\"web\"}&base-from=2d").status, 404);
  EXPECT_EQ(Get("/api/v1/diagnose?seconds=60&base-from=1h").status, 400);
}

TEST_F(ApiTest, TopOfNothingIsEmptyAndNoError) {
  EXPECT_THAT(Top("q={namespace=\"nope\"}").containers, IsEmpty());
  EXPECT_THAT(Top("by=functions&type=offcpu").functions, IsEmpty());
  EXPECT_THAT(Top("by=processes&type=offcpu").processes, IsEmpty());
  EXPECT_THAT(Top("by=traces").processes, IsEmpty()) << "these profiles name none";
}

TEST_F(ApiTest, SeriesAddUpByLabels) {
  auto reply = SeriesReplyFromJson(Get("/api/v1/series?by=namespace&step=1m").body);
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(reply->unit, "nanoseconds");
  EXPECT_DOUBLE_EQ(reply->step_seconds, 60);
  ASSERT_EQ(reply->series.size(), 2u);
  for (const auto& series : reply->series) {
    bool shop = series.labels.at("namespace") == "shop";
    EXPECT_NEAR(series.total, shop ? 3.6e9 : 0.15e9, 1);
    ASSERT_EQ(series.points.size(), 3u);
    EXPECT_EQ(series.points[0].first, Fixture::kNowNs / kNsPerMs - 180'000);
    EXPECT_NEAR(series.points[0].second, shop ? 1.2e9 : 0.05e9, 1);
  }
  auto totals = SeriesReplyFromJson(Get("/api/v1/series").body);
  ASSERT_TRUE(totals);
  ASSERT_EQ(totals->series.size(), 3u);
  EXPECT_THAT(totals->series[0].points, IsEmpty());
  double sum = 0;
  for (const auto& series : totals->series) sum += series.total;
  EXPECT_NEAR(sum, 3.75e9, 1);
}

// A sample of the fixture's is 10 ms, so that 3.6 s are 360.
TEST_F(ApiTest, SeriesAreOfTheValueThatIsAskedFor) {
  const std::string path = "/api/v1/series?by=namespace&type=";
  const auto samples =
      SeriesReplyFromJson(Get(path + "process_cpu:samples:count:cpu:nanoseconds").body);
  ASSERT_TRUE(samples) << samples.error().message();
  EXPECT_EQ(samples->type, "cpu");
  EXPECT_EQ(samples->unit, "count");
  ASSERT_EQ(samples->series.size(), 2u);
  for (const auto& series : samples->series) {
    EXPECT_NEAR(series.total, series.labels.at("namespace") == "shop" ? 360 : 15, 1e-6);
  }
  const auto main =
      SeriesReplyFromJson(Get(path + "process_cpu:cpu:nanoseconds:cpu:nanoseconds").body);
  ASSERT_TRUE(main);
  EXPECT_EQ(main->unit, "nanoseconds");
  EXPECT_NEAR(main->series.at(0).total + main->series.at(1).total, 3.75e9, 1);
  const net::HttpResponse other = Get(path + "memory:inuse_space:bytes:space:bytes");
  EXPECT_EQ(other.status, 422);
  EXPECT_THAT(other.body, HasSubstr("the series are of alloc_space and alloc_objects, not of"));
}

// Two ranges of half a second add up to the value of the whole second.
TEST_F(ApiTest, SeriesOfLessThanASecond) {
  auto total = [&](const std::string& from, const std::string& to) {
    const net::HttpResponse response =
        Get("/api/v1/series?from=2026-07-01T09:58:" + from + "Z&to=2026-07-01T09:58:" + to + "Z");
    EXPECT_EQ(response.status, 200) << response.body;
    const auto reply = SeriesReplyFromJson(response.body);
    double sum = 0;
    if (!reply) return sum;
    for (const auto& series : reply->series) {
      EXPECT_THAT(series.points, IsEmpty());
      sum += series.total;
    }
    return sum;
  };
  const double second = total("10", "11");
  EXPECT_GT(second, 0);
  EXPECT_NEAR(total("10", "10.5") + total("10.5", "11"), second, 2);
}

TEST_F(ApiTest, LabelsAndTypesListWhatThereIs) {
  auto names = LabelsReplyFromJson(Get("/api/v1/labels").body);
  ASSERT_TRUE(names);
  EXPECT_THAT(names->values, ::testing::IsSupersetOf({"container", "namespace", "node", "pod"}));
  auto pods = LabelsReplyFromJson(Get("/api/v1/labels?name=container&q={pod=\"web-0\"}").body);
  ASSERT_TRUE(pods);
  EXPECT_THAT(pods->values, ElementsAre("sidecar", "web"));
  const auto type_names = LabelsReplyFromJson(Get("/api/v1/labels?name=__name__").body);
  ASSERT_TRUE(type_names);
  EXPECT_THAT(type_names->values, ElementsAre("cpu"));
  auto types = TypesReplyFromJson(Get("/api/v1/types").body);
  ASSERT_TRUE(types);
  ASSERT_EQ(types->types.size(), 1u);
  EXPECT_EQ(types->types[0].name, "cpu");
  EXPECT_EQ(types->types[0].id, "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
}

TEST_F(ApiTest, DoctorIsAsBadAsItsWorstCheck) {
  auto doctor = DoctorReplyFromJson(Get("/api/v1/doctor").body);
  ASSERT_TRUE(doctor);
  EXPECT_EQ(doctor->status, CheckStatus::kWarn);
  ASSERT_EQ(doctor->checks.size(), 2u);
  EXPECT_EQ(doctor->checks[1].fix, "give --store-max-bytes 10Gi");
}

TEST_F(ApiTest, JsonErrorsHaveACodeAndAMessage) {
  struct Row {
    const char* target;
    const char* says;
  } rows[] = {
      {"/api/v1/top?by=pods", "containers, functions, lines, processes or traces"},
      {"/api/v1/top?k=0", "from 1 to 1000"},
      {"/api/v1/top?k=ten", "from 1 to 1000"},
      {"/api/v1/top?limit=5", "unknown parameter 'limit'"},
      {"/api/v1/series?by=nope", "no label 'nope'"},
      {"/api/v1/labels?name=nope", "no label 'nope'; the labels are capture, container, "},
      {"/api/v1/series?step=1ms", "1s or more"},
      {"/api/v1/series?from=0&step=1s", "at most 11000 points"},
      {"/api/v1/labels?from=x", "not a time"},
      {"/api/v1/types?type=cpu", "unknown parameter 'type'"},
      {"/api/v1/doctor?x=1", "accepts no parameters"},
  };
  for (const Row& row : rows) {
    net::HttpResponse response = Get(row.target);
    EXPECT_EQ(response.status, 400) << row.target;
    EXPECT_THAT(response.body, HasSubstr("{\"code\":\"invalid_argument\",\"message\":\""));
    EXPECT_THAT(ErrorMessageFromJson(response.body), HasSubstr(row.says));
  }
}

// A capture of web at 09:58: 100 samples that the window holds too, and 50 of its own.
TEST_F(ApiTest, TopCountsWhatACaptureAndAWindowHoldOnce) {
  const int64_t start_ns = Fixture::kNowNs - 120 * kNsPerSecond;
  constexpr int64_t kSampleNs = 10 * kNsPerMs;
  profile::Profile capture =
      testing::StackBuilder(start_ns)
          .Add({"main", "Serve", "Parse"}, 100, {{store::kAlsoLabel, store::kAlsoInWindow}})
          .Add({"main", "Burst"}, 50)
          .Build();
  store::CatalogRow row;
  row.namespace_name = "shop";
  row.pod = "web-0";
  row.container = "web";
  row.node = "node-1";
  row.type = "cpu";
  row.start_ns = start_ns;
  row.duration_ns = 60 * kNsPerSecond;
  row.samples = 150;
  row.value = 150 * kSampleNs;
  row.unit = "nanoseconds";
  row.capture = "f00d";
  row.also_samples = 100;
  row.also_value = 100 * kSampleNs;
  const auto key = store::BuildKey(store::CaptureKey{.cluster = "local",
                                                     .namespace_name = "shop",
                                                     .pod = "web-0",
                                                     .start_s = start_ns / kNsPerSecond,
                                                     .seconds = 60,
                                                     .container = "web",
                                                     .type = "cpu",
                                                     .id = store::ProfileId(row)});
  ASSERT_TRUE(
      fixture_.store().Put(*key, *store::EncodeCapture(row, profile::EncodePprof(capture))));
  const TopReply containers = Top("");
  EXPECT_EQ(containers.total, 425 * kSampleNs);
  EXPECT_EQ(containers.containers.at(0).samples, 350);
  EXPECT_EQ(containers.containers.at(0).hottest_function, "Parse");
  EXPECT_NEAR(containers.containers.at(0).hottest_percent, 100 * 180.0 / 350, 0.01);
  EXPECT_EQ(Top("by=functions").total, 425 * kSampleNs);
  // Asked for as such it is whole.
  EXPECT_EQ(Top("q={capture=\"f00d\"}").containers.at(0).samples, 150);
  EXPECT_EQ(Top("by=functions&q={capture=\"f00d\"}").total, 150 * kSampleNs);
}

TEST_F(ApiTest, TheAuthorizerRefusesOrNarrows) {
  fixture_.Change([](Fixture::Answers& answers) { answers.only_namespace = "-"; });
  EXPECT_EQ(Profile("").Total(0), 15);
  EXPECT_EQ(Top("").containers.size(), 1u);
  EXPECT_EQ(Get("/api/v1/profile?q={namespace=\"shop\"}").status, 404);
  fixture_.Change([](Fixture::Answers& answers) {
    answers.refusal = Error(ErrorCode::kPermission, "you may not get profilingpolicies/profiles");
  });
  for (const char* path :
       {"/api/v1/profile", "/api/v1/top", "/api/v1/series", "/api/v1/labels", "/api/v1/types"}) {
    net::HttpResponse response = Get(path);
    EXPECT_EQ(response.status, 403) << path;
    EXPECT_THAT(response.body, HasSubstr("profilingpolicies/profiles")) << path;
  }
  EXPECT_EQ(Get("/livez").status, 200);
}

TEST_F(ApiTest, WhoIsUnknownIsToldToSayWhoTheyAre) {
  fixture_.Change([](Fixture::Answers& answers) {
    answers.unknown = Error(ErrorCode::kPermission, "no token");
  });
  for (const char* path : {"/api/v1/top", "/api/v1/doctor", "/api/v1/nope"}) {
    net::HttpResponse response = Get(path);
    EXPECT_EQ(response.status, 401) << path;
    EXPECT_EQ(Header(response, "WWW-Authenticate"), "Bearer realm=\"firetower\"");
    EXPECT_THAT(response.body, HasSubstr(R"("code":"unauthenticated","message":"no token")"));
  }
  net::HttpResponse pprof = Get("/api/v1/profile");
  EXPECT_EQ(pprof.status, 401);
  // Refused requests have a route too, for the metrics.
  EXPECT_EQ(pprof.route, "/api/v1/profile");
  EXPECT_EQ(Get("/api/v1/top").route, "/api/v1/top");
  EXPECT_EQ(Get("/api/v1/nope").route, "");
  EXPECT_EQ(Header(pprof, "X-Go-Pprof"), "1");
  EXPECT_EQ(pprof.body, "no token\n");
  EXPECT_EQ(Get("/metrics").status, 200);
  EXPECT_EQ(Get("/").status, 200);
  fixture_.Change([](Fixture::Answers& answers) {
    answers.unknown = Error(ErrorCode::kUnavailable, "the API server is away");
  });
  EXPECT_EQ(Get("/api/v1/top").status, 503);
  EXPECT_EQ(Header(Get("/api/v1/top"), "WWW-Authenticate"), "");
}

TEST_F(ApiTest, AsksTheStoreNoMoreOnceNobodyWaits) {
  std::stop_source gone;
  gone.request_stop();
  net::HttpRequest request;
  request.method = "GET";
  request.gone = gone.get_token();
  for (const char* path : {"/api/v1/profile", "/api/v1/flame", "/api/v1/top", "/api/v1/series",
                           "/api/v1/labels", "/api/v1/types"}) {
    request.path = path;
    EXPECT_EQ(fixture_.api().Serve(request).status, 503) << path;
  }
}

TEST_F(ApiTest, SaysWhenSomethingStoredCouldNotBeRead) {
  auto listed = fixture_.store().List("v1/", "");
  ASSERT_TRUE(listed && !listed->empty());
  ASSERT_TRUE(fixture_.store().Put(listed->front().key, "half a fi"));
  net::HttpResponse response = Get("/api/v1/profile");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(Header(response, "X-Firetower-Skipped"), "1");
  TopReply top = Top("");
  EXPECT_EQ(top.skipped, 1);
  EXPECT_EQ(top.containers.at(0).samples, 200);
}

}  // namespace
}  // namespace firetower::query
