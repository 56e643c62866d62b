// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "profile/pprof.h"
#include "query/flame/file_endpoint.h"
#include "tests/support/sample_profiles.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class FileEndpoint : public ::testing::Test {
 protected:
  net::HttpResponse Post(const std::string& body, net::NamedValues params = {},
                         const std::string& type = "application/octet-stream") {
    net::HttpRequest request;
    request.method = "POST";
    request.path = "/api/v1/file";
    request.params = std::move(params);
    request.content_type = type;
    request.body = body;
    return fixture_.api().Serve(request);
  }
  Json Opened(const std::string& body, net::NamedValues params = {}) {
    const net::HttpResponse response = Post(body, std::move(params));
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body, nullptr, false);
  }
  Fixture fixture_;
};

TEST_F(FileEndpoint, DrawsFilesOfEachFormat) {
  const std::string pprof =
      profile::EncodePprof(StackBuilder().Add({"main", "f"}, 3).Add({"main"}, 1).Build());
  const Json flame = Opened(pprof, {{"name", "x.pb.gz"}});
  EXPECT_EQ(flame["names"], (Json{"total", "main", "f"}));
  EXPECT_EQ(flame["title"], "x.pb.gz");
  const Json folded = Opened("main;f 3\nmain 1\n", {{"name", "x.folded"}});
  EXPECT_EQ(folded["total"], 4);
  EXPECT_EQ(folded["names"], (Json{"total", "main", "f"}));
}

TEST_F(FileEndpoint, ComparesTwoFiles) {
  const std::string base = "main;f 3\nmain 1\n";
  const Json flame =
      Opened(base + "main;f 1\nmain;g 4\n", {{"base-bytes", std::to_string(base.size())}});
  EXPECT_EQ(flame["base_total"], 4);
  EXPECT_EQ(flame["total"], 5);
  EXPECT_EQ(flame["levels"][0], (Json{0, 4, 0, 0, 5, 0, 0}));
  EXPECT_EQ(Post("x", {{"base-bytes", "2"}}).status, 400);
  const std::string other = profile::EncodePprof(StackBuilder().Add({"main"}, 1).Build());
  const net::HttpResponse unlike =
      Post(base + other, {{"base-bytes", std::to_string(base.size())}});
  EXPECT_EQ(unlike.status, 422);
  EXPECT_THAT(unlike.body, HasSubstr("no value in common"));
}

TEST_F(FileEndpoint, SaysWhatIsWrongWithAFile) {
  const net::HttpResponse none = Post("", {{"name", "empty"}});
  EXPECT_EQ(none.status, 422);
  EXPECT_THAT(none.body, HasSubstr("empty: "));
  EXPECT_EQ(Post("\x89PNG\r\n", {{"name", "a.png"}}).status, 422);
  EXPECT_EQ(Post("main 1\n", {}, "text/plain").status, 415);
  EXPECT_EQ(Post("main 1\n", {{"nmae", "x"}}).status, 400);
}

TEST_F(FileEndpoint, APprofFileCutAnywhereIsRefusedOrRead) {
  const std::string pprof = profile::EncodePprof(StackBuilder().Add({"main", "f"}, 3).Build());
  for (size_t size = 0; size < pprof.size(); ++size)
    EXPECT_EQ(Post(pprof.substr(0, size)).status, 422) << size;
}

TEST_F(FileEndpoint, TellsHowLargeAFileMayBe) {
  net::HttpRequest request;
  request.method = "GET";
  request.path = "/api/v1/file";
  EXPECT_EQ(Json::parse(fixture_.api().Serve(request).body)["max_bytes"],
            static_cast<int64_t>(Fixture::kFileBytes));
  request.method = "PUT";
  EXPECT_EQ(fixture_.api().Serve(request).status, 405);
}

TEST_F(FileEndpoint, StrangersAreNotServed) {
  fixture_.Change([](Fixture::Answers& answers) { answers.token = "t"; });
  EXPECT_EQ(Post("main 1\n").status, 401);
}

}  // namespace
}  // namespace firetower::query
