// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "query/api.h"
#include "query/wire.h"
#include "store/bundle.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The store lists its objects but cannot read them: they must not be taken for missing.
class DamagedStore : public ::testing::Test {
 protected:
  DamagedStore() {
    const auto listed = fixture_.store().List("", "", 100);
    for (const store::ObjectInfo& object : *listed) {
      std::string bytes = *fixture_.store().Get(object.key);
      const auto index = store::ReadBundleIndex(fixture_.store(), object.key);
      for (const store::BundleEntry& entry : index->entries) {
        bytes[entry.end_offset - 1] ^= 1;
        ++entries_;
      }
      EXPECT_TRUE(fixture_.store().Put(object.key, bytes));
    }
    EXPECT_EQ(entries_, 6);
  }
  static std::string SkippedOf(const net::HttpResponse& response) {
    for (const auto& [name, value] : response.headers) {
      if (name == "X-Firetower-Skipped") return value;
    }
    return "";
  }
  net::HttpResponse Get(const std::string& path, net::NamedValues params) {
    net::HttpRequest request;
    request.method = "GET";
    request.path = "/api/v1/" + path;
    request.params = std::move(params);
    return fixture_.api().Serve(request);
  }

  Fixture fixture_;
  int entries_ = 0;
};

TEST_F(DamagedStore, IsNotSaidToBeEmpty) {
  const net::NamedValues stored = {{"from", "2026-07-01T09:57:00Z"},
                                   {"to", "2026-07-01T09:59:00Z"}};
  net::NamedValues by_functions = stored;
  by_functions.emplace_back("by", "functions");
  const net::NamedValues sides = {{"base-from", "2026-07-01T09:57:00Z"},
                                  {"base-to", "2026-07-01T09:58:00Z"},
                                  {"from", "2026-07-01T09:59:00Z"},
                                  {"to", "2026-07-01T10:00:00Z"}};
  const std::pair<const char*, net::NamedValues> questions[] = {{"profile", stored},
                                                                {"flame", stored},
                                                                {"top", stored},
                                                                {"top", by_functions},
                                                                {"diff", sides}};
  for (const auto& [path, params] : questions) {
    const net::HttpResponse response = Get(path, params);
    EXPECT_EQ(response.status, 503) << path << ": " << response.body;
    EXPECT_THAT(response.body, AllOf(HasSubstr("could not be read"), HasSubstr("CRC")));
  }
}

TEST_F(DamagedStore, IsCountedBesideWhatCouldBeRead) {
  for (const char* by : {"containers", "functions"}) {
    const net::HttpResponse response =
        Get("top", {{"by", by}, {"from", "2026-07-01T09:57:00Z"}, {"to", "2026-07-01T10:00:00Z"}});
    ASSERT_EQ(response.status, 200) << response.body;
    const auto reply = TopReplyFromJson(response.body);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->skipped, 6) << by;
    // The minute that is open is all that can be read: 125 samples of 10 ms, of which web has 100.
    EXPECT_EQ(reply->total, 1'250'000'000) << by;
    EXPECT_DOUBLE_EQ(reply->observed_seconds, 60) << by << ": of the open minute";
    if (reply->by == "containers") {
      EXPECT_EQ(reply->containers.at(0).samples, 100);
      EXPECT_EQ(reply->containers.at(0).value, 1'000'000'000);
      EXPECT_DOUBLE_EQ(reply->containers.at(0).share_percent, 80);
      EXPECT_DOUBLE_EQ(reply->containers.at(0).cores, 1.0 / 60);
    }
    EXPECT_EQ(SkippedOf(response), "6") << by;
  }
}

// Whoever asks for others' profiles has no answer less by it.
TEST_F(DamagedStore, WhoseBundlesHeldNobodyKnowsWhatHasNoProfile) {
  const auto listed = fixture_.store().List("", "", 100);
  for (const store::ObjectInfo& object : *listed)
    EXPECT_TRUE(fixture_.store().Put(object.key, "no bundle"));
  const net::NamedValues stored = {{"q", R"({namespace="shop"})"},
                                   {"from", "2026-07-01T09:57:00Z"},
                                   {"to", "2026-07-01T09:59:00Z"}};
  const net::NamedValues sides = {{"base-from", "2026-07-01T09:57:00Z"},
                                  {"base-to", "2026-07-01T09:58:00Z"},
                                  {"from", "2026-07-01T09:58:00Z"},
                                  {"to", "2026-07-01T09:59:00Z"}};
  const std::pair<const char*, net::NamedValues> none[] = {
      {"profile", stored}, {"flame", stored}, {"diff", sides}};
  for (const auto& [path, params] : none) {
    const net::HttpResponse response = Get(path, params);
    EXPECT_EQ(response.status, 404) << path << ": " << response.body;
    EXPECT_THAT(response.body, AllOf(HasSubstr("no profile matches"), HasSubstr("are damaged"),
                                     Not(HasSubstr(".zip"))));
    EXPECT_NE(SkippedOf(response), "") << path;
  }
  for (const char* by : {"containers", "functions"}) {
    net::NamedValues params = stored;
    params.emplace_back("by", by);
    const net::HttpResponse response = Get("top", params);
    EXPECT_EQ(response.status, 200) << by << ": " << response.body;
    EXPECT_NE(SkippedOf(response), "") << by;
  }
}

TEST_F(DamagedStore, SaysNoneWhereThereIsNone) {
  const net::HttpResponse response =
      Get("profile", {{"from", "2026-07-01T08:00:00Z"}, {"to", "2026-07-01T09:00:00Z"}});
  EXPECT_EQ(response.status, 404);
  EXPECT_THAT(response.body, Not(HasSubstr("could not be read")));
}

}  // namespace
}  // namespace firetower::query
