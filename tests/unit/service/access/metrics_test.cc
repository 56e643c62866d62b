// SPDX-License-Identifier: Apache-2.0
// Metrics that take a right, over the API that serves them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "query/api.h"
#include "service/access/kube_authorizer.h"
#include "store/access/served_store.h"
#include "tests/support/k8s/recording_api_server.h"
#include "tests/support/memory_store.h"

namespace firetower::service {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kPrometheus =
    R"({"status":{"authenticated":true,"user":{"username":"prometheus","groups":["g"]}}})";
constexpr const char* kNobody = R"({"status":{"user":{}}})";
constexpr const char* kYes = R"({"status":{"allowed":true}})";
constexpr const char* kNo = R"({"status":{"allowed":false}})";

class Program : public query::LiveSource,
                public query::MetricsSource,
                public query::DoctorSource,
                public query::ReadySource {
 public:
  std::vector<store::OpenProfile> OpenProfiles() const override { return {}; }
  Page Render(std::string_view) const override { return {"text/plain", "up 1\n"}; }
  std::vector<query::Check> Checks() const override { return {}; }
  std::vector<std::string> NotReadyReasons() const override { return {}; }
};

class MetricsTest : public ::testing::Test {
 protected:
  net::HttpResponse Get(std::string path, std::string authorization = "") {
    net::HttpRequest request;
    request.method = "GET";
    request.path = std::move(path);
    request.authorization = std::move(authorization);
    return api_.Serve(request);
  }
  net::HttpResponse Scrape() { return Get("/metrics", "Bearer s3cret"); }

  FakeClock clock_{kNsPerSecond, 0};
  k8s::RecordingApiServer server_;
  KubeAuthorizer authorizer_{server_, clock_};
  Program program_;
  firetower::testing::MemoryStore memory_;
  store::ServedStore store_{memory_};
  query::Api api_{query::ApiParts{.store = {store_},
                                  .live = program_,
                                  .metrics = program_,
                                  .doctor = program_,
                                  .ready = program_,
                                  .authorizer = authorizer_,
                                  .clock = clock_,
                                  .admission = {.strangers = 2},
                                  .authorize_metrics = true}};
};

TEST_F(MetricsTest, AskForATokenAndProbesDoNot) {
  const net::HttpResponse refused = Get("/metrics");
  EXPECT_EQ(refused.status, 401);
  EXPECT_THAT(refused.body, AllOf(HasSubstr("unauthenticated"), HasSubstr("no token")));
  EXPECT_EQ(Get("/livez").status, 200);
  EXPECT_EQ(Get("/readyz").status, 200);
  EXPECT_THAT(server_.requests(), SizeIs(0));
}

TEST_F(MetricsTest, RefuseATokenThatIsNobodys) {
  server_.Answer(201, kNobody);
  EXPECT_EQ(Scrape().status, 401);
}

TEST_F(MetricsTest, AskForTheRightToTheirPath) {
  server_.Answer(201, kPrometheus);
  server_.Answer(201, kNo);
  const net::HttpResponse refused = Scrape();
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("prometheus may not read metrics; see kubectl auth can-i get "
                                      "/metrics"));
  EXPECT_THAT(server_.last().body,
              AllOf(HasSubstr(R"("user":"prometheus","uid":"","groups":["g"])"),
                    HasSubstr(R"("nonResourceAttributes":{"path":"/metrics","verb":"get"})")));
  clock_.Advance(KubeAuthorizer::kKeepRefusedNs);
  server_.Answer(201, kYes);
  EXPECT_EQ(Scrape().body, "up 1\n") << "the right came";
}

// An API server that is away, or slow, does not stop scrapes that it has allowed.
TEST_F(MetricsTest, AskOnceInFiveMinutes) {
  server_.Answer(201, kPrometheus);
  server_.Answer(201, kYes);
  for (int64_t passed_ns = 0; passed_ns < KubeAuthorizer::kKeepMetricsNs;
       passed_ns += 30 * kNsPerSecond) {
    EXPECT_EQ(Scrape().status, 200);
    clock_.Advance(30 * kNsPerSecond);
  }
  EXPECT_THAT(server_.requests(), SizeIs(2));
  EXPECT_EQ(Scrape().status, 503) << "it is away";
  server_.Answer(201, kNobody);
  EXPECT_EQ(Scrape().status, 401) << "the token was taken away";
}

TEST_F(MetricsTest, AreNotTheRightToReadProfiles) {
  server_.Answer(201, kPrometheus);
  server_.Answer(201, kYes);
  EXPECT_EQ(Scrape().status, 200);
  server_.Answer(201, kNo);
  EXPECT_EQ(Get("/api/v1/types", "Bearer s3cret").status, 403);
}

}  // namespace
}  // namespace firetower::service
