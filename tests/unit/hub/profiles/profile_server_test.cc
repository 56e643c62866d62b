// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/profile_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <semaphore>
#include <thread>

#include "profile/pprof.h"
#include "query/wire.h"
#include "tests/support/k8s/recording_api_server.h"
#include "tests/support/stored_profiles.h"

namespace firetower::hub {
namespace {

using ::firetower::testing::kFirstWindow;
using ::firetower::testing::Row;
using ::firetower::testing::StoreFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kJane =
    R"({"status":{"authenticated":true,"user":{"username":"jane","uid":"u-1"}}})";
constexpr const char* kNobody = R"({"status":{"user":{}}})";
constexpr const char* kYes = R"({"status":{"allowed":true}})";
constexpr const char* kNo = R"({"status":{"allowed":false}})";

// A hub's server over a store that holds, of the minute kFirstWindow, 10 samples of shop's web, 5
// of infra's db and 2 of the host; it is ten minutes later.
class ProfileServerTest : public ::testing::Test {
 protected:
  ProfileServerTest() {
    folder_.PutBundle({Row("shop", "web-1", "web", kFirstWindow, 10),
                       Row("infra", "db-0", "db", kFirstWindow, 5),
                       Row("-", "-", "host", kFirstWindow, 2)});
  }
  void Start(const std::string& cluster = "home") {
    Config config;
    config.cluster = cluster;
    config.store_url = folder_.store().Describe();
    server_.reset();
    auto server =
        ProfileServer::Start(config, {reviews_, own_rights_, clock_, [] { return false; },
                                      [](service::ExpositionFormat) { return "figures\n"; },
                                      [] { return std::vector<k8s::WatchState>(); },
                                      [] { return std::vector<query::PolicyState>(); }});
    ASSERT_TRUE(server) << server.error().message();
    server_ = *std::move(server);
  }
  net::HttpResponse Get(const std::string& path, const std::string& selector = "",
                        const std::string& authorization = "Bearer t0ken") {
    net::HttpRequest request;
    request.method = "GET";
    request.path = path;
    if (!selector.empty()) request.params = {{"q", selector}};
    request.authorization = authorization;
    return server_->Serve(request);
  }
  // The first round of the server's own thread.
  bool Comes(const std::function<bool(const ProfileFigures&)>& is_so) {
    for (int i = 0; i < 10'000; ++i) {
      if (is_so(server_->figures())) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  StoreFolder folder_;
  FakeClock clock_{kNsPerSecond, (kFirstWindow + 600) * kNsPerSecond};
  k8s::RecordingApiServer reviews_;
  k8s::RecordingApiServer own_rights_;
  std::unique_ptr<ProfileServer> server_;
};

TEST_F(ProfileServerTest, AnswersWhatTheCallerMayRead) {
  Start();
  for (const char* answer : {kJane, kNo, kYes}) reviews_.Answer(201, answer);
  const net::HttpResponse top = Get("/api/v1/top", R"({namespace="shop"})");
  ASSERT_EQ(top.status, 200) << top.body;
  const auto reply = query::TopReplyFromJson(top.body);
  ASSERT_TRUE(reply);
  ASSERT_THAT(reply->containers, SizeIs(1));
  EXPECT_EQ(reply->containers[0].pod, "web-1");
  EXPECT_EQ(reply->containers[0].samples, 10);
  reviews_.Answer(201, kNo);
  EXPECT_EQ(Get("/api/v1/profile", R"({namespace="infra"})").status, 403);
  EXPECT_EQ(Get("/api/v1/profile").status, 403);
}

TEST_F(ProfileServerTest, LeavesTheHostsOutForWhoMayReadPodsOnly) {
  Start();
  for (const char* answer : {kJane, kYes, kNo}) reviews_.Answer(201, answer);
  const net::HttpResponse response = Get("/api/v1/profile");
  ASSERT_EQ(response.status, 200) << response.body;
  const auto profile = profile::DecodePprof(response.body);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->Total(0), 15);
}

TEST_F(ProfileServerTest, AsksNothingForWhoIsUnknown) {
  Start();
  EXPECT_EQ(Get("/api/v1/top", "", "").status, 401);
  EXPECT_THAT(reviews_.requests(), IsEmpty());
  reviews_.Answer(201, kNobody);
  EXPECT_EQ(Get("/api/v1/top").status, 401);
}

TEST_F(ProfileServerTest, ThePageAndTheProbesAreForEverybody) {
  Start();
  EXPECT_THAT(Get("/", "", "").body, HasSubstr("/api/v1/flame"));
  EXPECT_EQ(Get("/readyz", "", "").body, "ok\n");
  EXPECT_EQ(Get("/metrics", "", "").body, "figures\n");
  EXPECT_EQ(Get("/nope", "", "").status, 404);
  EXPECT_THAT(reviews_.requests(), IsEmpty());
}

TEST_F(ProfileServerTest, KnowsNewBundlesAfterAMinute) {
  Start();
  EXPECT_TRUE(Comes([](const ProfileFigures& figures) { return figures.recent_rows == 3; }));
  EXPECT_TRUE(Comes([](const ProfileFigures& figures) { return figures.catalogs.rounds == 1; }));
}

TEST_F(ProfileServerTest, SaysWhichRightItLacks) {
  own_rights_.Answer(201, kYes);
  own_rights_.Answer(201, kNo);
  Start();
  ASSERT_TRUE(Comes(
      [](const ProfileFigures& figures) { return figures.rights.at(1).allowed.has_value(); }));
  reviews_.Answer(201, kJane);
  const net::HttpResponse response = Get("/api/v1/doctor");
  ASSERT_EQ(response.status, 200) << response.body;
  const auto reply = query::DoctorReplyFromJson(response.body);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, query::CheckStatus::kFail);
  for (const query::Check& check : reply->checks) {
    const bool is_missing = check.name == "kube-subjectaccessreviews";
    EXPECT_EQ(check.status, is_missing ? query::CheckStatus::kFail : query::CheckStatus::kOk)
        << check.name << ": " << check.message;
    if (!is_missing) continue;
    EXPECT_THAT(check.fix, HasSubstr("grant create of subjectaccessreviews"));
  }
}

TEST_F(ProfileServerTest, AnswersAboutItsOwnClusterAlone) {
  const store::BundleKey others{.cluster = "prod.example",
                                .start_s = kFirstWindow,
                                .seconds = 60,
                                .node = "node-1",
                                .run = "abcd1234"};
  ASSERT_TRUE(folder_.store().Put(
      *store::BuildKey(others), testing::BundleOf({Row("shop", "pay-1", "web", kFirstWindow, 7)})));
  const auto pods = [&] {
    EXPECT_TRUE(Comes([](const ProfileFigures& figures) { return figures.catalogs.rounds == 1; }));
    for (const char* answer : {kJane, kNo, kYes}) reviews_.Answer(201, answer);
    const auto reply = query::TopReplyFromJson(Get("/api/v1/top", R"({namespace="shop"})").body);
    std::string names;
    for (size_t i = 0; reply && i < reply->containers.size(); ++i)
      names += reply->containers[i].pod + " ";
    return names;
  };
  Start();
  EXPECT_EQ(pods(), "web-1 ");
  Start("PROD.example");
  EXPECT_EQ(pods(), "pay-1 ") << "keys have names in lower case";
}

TEST_F(ProfileServerTest, SaysWhoseProfilesItMisses) {
  own_rights_.Answer(201, kYes);
  own_rights_.Answer(201, kYes);
  Start("hone");
  reviews_.Answer(201, kJane);
  const auto reply = query::DoctorReplyFromJson(Get("/api/v1/doctor").body);
  ASSERT_TRUE(reply);
  const query::Check& check = reply->checks.at(0);
  EXPECT_EQ(check.status, query::CheckStatus::kWarn);
  EXPECT_THAT(check.message, HasSubstr("nothing of cluster hone"));
  EXPECT_THAT(check.fix, HasSubstr("--cluster"));
}

// Delays the review of tokens until the test releases it.
class SlowApiServer : public k8s::ApiServer {
 public:
  Result<k8s::ApiReply> Send(const k8s::ApiRequest&, k8s::BodySink&) override {
    go_on.acquire();
    return Error(ErrorCode::kUnavailable, "no answer");
  }
  std::counting_semaphore<> go_on{0};
};

TEST_F(ProfileServerTest, IsBusyInTheFormOfThePath) {
  SlowApiServer reviews;
  Config config;
  config.store_url = folder_.store().Describe();
  auto server = ProfileServer::Start(config, {reviews, own_rights_, clock_, [] { return false; },
                                              [](service::ExpositionFormat) { return ""; },
                                              [] { return std::vector<k8s::WatchState>(); },
                                              [] { return std::vector<query::PolicyState>(); }});
  ASSERT_TRUE(server);
  server_ = *std::move(server);
  // Two run and thirty wait; the first answer goes to a further one.
  std::mutex mutex;
  std::vector<net::HttpResponse> answers;
  std::counting_semaphore<> answered{0};
  std::vector<std::jthread> askers;
  for (int i = 0; i < 33; ++i) {
    askers.emplace_back([&] {
      net::HttpResponse answer = Get("/api/v1/profile");
      const std::lock_guard lock(mutex);
      answers.push_back(std::move(answer));
      answered.release();
    });
  }
  EXPECT_TRUE(answered.try_acquire_for(std::chrono::seconds(9)));
  reviews.go_on.release(100);
  askers.clear();
  const net::HttpResponse& busy = answers.at(0);
  EXPECT_EQ(busy.status, 503);
  EXPECT_THAT(busy.body, HasSubstr("retry in"));
  EXPECT_THAT(busy.headers, ::testing::Contains(::testing::Pair("Retry-After", "2")));
  EXPECT_THAT(busy.headers, ::testing::Contains(::testing::Pair("X-Go-Pprof", "1")));
  EXPECT_EQ(busy.content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(busy.route, "/api/v1/profile");
}

TEST_F(ProfileServerTest, NeedsAStoreThatCanBeOpened) {
  Config config;
  config.store_url = "file:///proc/no/such/folder";
  const auto server =
      ProfileServer::Start(config, {reviews_, own_rights_, clock_, [] { return false; },
                                    [](service::ExpositionFormat) { return ""; },
                                    [] { return std::vector<k8s::WatchState>(); },
                                    [] { return std::vector<query::PolicyState>(); }});
  EXPECT_FALSE(server);
}

}  // namespace
}  // namespace firetower::hub
