// SPDX-License-Identifier: Apache-2.0
// Profiles one by one: /api/v1/profiles, and /api/v1/profile?id=.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>

#include "net/url.h"
#include "profile/pprof.h"
#include "query/wire.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Pair;

class ProfilesEndpointTest : public ::testing::Test {
 protected:
  net::HttpResponse Get(const std::string& path, net::NamedValues params,
                        std::stop_token gone = {}) {
    net::HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.params = std::move(params);
    request.gone = std::move(gone);
    return fixture_.api().Serve(request);
  }
  ProfilesReply List(net::NamedValues params) {
    const net::HttpResponse response = Get("/api/v1/profiles", std::move(params));
    EXPECT_EQ(response.status, 200) << response.body;
    const Result<ProfilesReply> reply = ProfilesReplyFromJson(response.body);
    EXPECT_TRUE(reply) << reply.error().message();
    return reply ? *reply : ProfilesReply();
  }
  net::HttpResponse GetOne(const std::string& id) { return Get("/api/v1/profile", {{"id", id}}); }
  // Returns the id of the container's profile in the window of 09:58.
  std::string StoredId(const std::string& container) {
    return List({{"q", "{container=\"" + container + "\"}"}}).rows.at(1).id;
  }
  Fixture fixture_;
};

// 09:57 and 09:58 are stored, 09:59 is open.
TEST_F(ProfilesEndpointTest, ListsWhatMatchesNewestFirst) {
  const ProfilesReply all = List({});
  EXPECT_EQ(all.total_rows, 9);
  ASSERT_EQ(all.rows.size(), 9u);
  EXPECT_TRUE(std::ranges::is_sorted(all.rows, std::greater(), &ProfilesReply::Row::start_ms));
  const ProfilesReply web = List({{"q", "{container=\"web\"}"}, {"limit", "2"}});
  EXPECT_EQ(web.total_rows, 3);
  ASSERT_EQ(web.rows.size(), 2u);
  EXPECT_EQ(web.rows[0].id, "");
  EXPECT_EQ(web.rows[0].bytes, 0);
  const ProfilesReply::Row& row = web.rows[1];
  EXPECT_EQ(row.start_ms, (Fixture::kNowNs - 120 * kNsPerSecond) / kNsPerMs);
  EXPECT_EQ(row.seconds, 60);
  EXPECT_EQ(row.type, "cpu");
  EXPECT_EQ(row.namespace_name + "/" + row.pod + "/" + row.container, "shop/web-0/web");
  EXPECT_EQ(row.node, "node-1");
  EXPECT_EQ(row.samples, 100);
  EXPECT_EQ(row.value, 1'000'000'000);
  EXPECT_EQ(row.unit, "nanoseconds");
  EXPECT_GT(row.bytes, 0);
  EXPECT_EQ(List({{"type", "offcpu"}}).total_rows, 0);
  EXPECT_EQ(List({{"from", "now-3m"}, {"to", "now-2m"}}).total_rows, 3);
}

TEST_F(ProfilesEndpointTest, TheOpenWindowIsLeftOutWhereThatIsAskedFor) {
  const ProfilesReply web =
      List({{"q", "{container=\"web\"}"}, {"limit", "1"}, {"stored", "true"}});
  EXPECT_EQ(web.total_rows, 2);
  ASSERT_EQ(web.rows.size(), 1u);
  EXPECT_EQ(web.rows[0].start_ms, (Fixture::kNowNs - 120 * kNsPerSecond) / kNsPerMs);
  EXPECT_NE(web.rows[0].id, "");
  EXPECT_EQ(List({{"stored", "false"}}).total_rows, 9);
}

TEST_F(ProfilesEndpointTest, OneIsAnsweredAsItIsStored) {
  const ProfilesReply web = List({{"q", "{container=\"web\"}"}});
  const net::HttpResponse response = GetOne(web.rows.at(1).id);
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.body.size(), static_cast<size_t>(web.rows[1].bytes));
  EXPECT_EQ(response.content_type, "application/octet-stream");
  EXPECT_THAT(response.headers,
              ::testing::Contains(Pair("Content-Disposition",
                                       "attachment; filename=\"cpu-20260701T095800Z-60s.pb.gz\"")));
  const auto profile = profile::DecodePprof(response.body);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->Total(0), 100);
  EXPECT_EQ(profile->meta().time_nanos, Fixture::kNowNs - 120 * kNsPerSecond);
}

TEST_F(ProfilesEndpointTest, ErrorsSayWhatIsWrong) {
  struct Row {
    const char* path;
    net::NamedValues params;
    int status;
    const char* says;
  };
  const std::string id = StoredId("web");
  std::string gone = id;
  gone.replace(gone.find("node-1"), 6, "node-2");
  const Row rows[] = {
      {"/api/v1/profiles", {{"limit", "0"}}, 400, "limit"},
      {"/api/v1/profiles", {{"limit", "10001"}}, 400, "limit"},
      {"/api/v1/profiles", {{"q", "{"}}, 400, "q"},
      {"/api/v1/profiles", {{"id", id}}, 400, "unknown parameter 'id'"},
      {"/api/v1/profiles", {{"stored", "yes"}}, 400, "'stored' must be true or false"},
      {"/api/v1/profile", {{"id", ""}}, 400, "parameter 'id': not a profile id"},
      {"/api/v1/profile", {{"id", "web"}}, 400, "parameter 'id': not a profile id"},
      {"/api/v1/profile", {{"id", id}, {"q", "{}"}}, 400, "'q' has no effect"},
      {"/api/v1/profile", {{"id", id}, {"seconds", "5"}}, 400, "'seconds' has no effect"},
      {"/api/v1/profile", {{"id", gone}}, 404, "may have been deleted"},
  };
  for (const Row& row : rows) {
    const net::HttpResponse response = Get(row.path, row.params);
    EXPECT_EQ(response.status, row.status) << response.body;
    EXPECT_THAT(response.body, HasSubstr(row.says));
  }
}

TEST_F(ProfilesEndpointTest, AreThoseThatTheCallerMayRead) {
  const std::string web = StoredId("web");
  const std::string host = StoredId("sshd.service");
  EXPECT_EQ(GetOne(host).status, 200);
  fixture_.Change([](Fixture::Answers& answers) { answers.only_namespace = "-"; });
  EXPECT_EQ(List({}).total_rows, 3);
  EXPECT_EQ(GetOne(host).status, 200);
  EXPECT_EQ(GetOne(web).status, 404);
  fixture_.Change([](Fixture::Answers& answers) {
    answers.refusal = Error(ErrorCode::kPermission, "you may not");
  });
  EXPECT_EQ(Get("/api/v1/profiles", {}).status, 403);
  // The answer does not reveal whether it exists.
  std::string gone = web;
  gone.replace(gone.find("node-1"), 6, "node-2");
  EXPECT_EQ(GetOne(web).status, 403);
  EXPECT_EQ(GetOne(gone).status, 403);
}

TEST_F(ProfilesEndpointTest, EndOnceNobodyWaits) {
  const std::string id = StoredId("web");
  std::stop_source gone;
  gone.request_stop();
  EXPECT_EQ(Get("/api/v1/profiles", {}, gone.get_token()).status, 503);
  EXPECT_EQ(Get("/api/v1/profile", {{"id", id}}, gone.get_token()).status, 503);
}

}  // namespace
}  // namespace firetower::query
