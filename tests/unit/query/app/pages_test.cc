// SPDX-License-Identifier: Apache-2.0
#include "query/app/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "query/app/assets.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kBrowser[] = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

class Pages : public ::testing::Test {
 protected:
  net::HttpResponse Get(const std::string& path, net::NamedValues params = {},
                        const std::string& accept = kBrowser) {
    net::HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.params = std::move(params);
    request.accept = accept;
    return fixture_.api().Serve(request);
  }
  static std::string Header(const net::HttpResponse& response, std::string_view name) {
    for (const auto& [key, value] : response.headers)
      if (key == name) return value;
    return "";
  }
  // The address of an asset as the document has it: {path, v}.
  std::pair<std::string, std::string> Asset(const std::string& name) {
    const std::string body = Get("/").body;
    const size_t at = body.find("assets/" + name + "?v=");
    EXPECT_NE(at, std::string::npos) << body;
    const std::string version = body.substr(at + name.size() + 10, 16);
    return {"/assets/" + name, version};
  }
  Fixture fixture_;
};

TEST_F(Pages, AreOneDocumentThatTalksToItsOwnServerAlone) {
  const net::HttpResponse home = Get("/");
  for (const char* path : {"/", "/explore", "/diff", "/heat", "/file", "/agents", "/policies"}) {
    const net::HttpResponse page = Get(path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_EQ(page.body, home.body) << path;
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
    EXPECT_EQ(Header(page, "Vary"), "Accept");
    EXPECT_EQ(Header(page, "Referrer-Policy"), "no-referrer");
    const std::string policy = Header(page, "Content-Security-Policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, HasSubstr("script-src 'self'; style-src 'self'; connect-src 'self'"));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  }
  EXPECT_THAT(home.body, StartsWith("<!doctype html>"));
  EXPECT_THAT(home.body, Not(HasSubstr("http://")));
  EXPECT_THAT(home.body, Not(HasSubstr("https://")));
}

TEST_F(Pages, ScriptsGetTheListAtTheRoot) {
  const net::HttpResponse list = Get("/", {}, "*/*");
  EXPECT_THAT(list.content_type, StartsWith("text/plain"));
  EXPECT_THAT(list.body, HasSubstr("/api/v1/flame"));
  EXPECT_EQ(Header(list, "Vary"), "Accept");
}

TEST_F(Pages, AMisspeltParameterIsAnError) {
  EXPECT_EQ(Get("/explore", {{"type", "cpu"}, {"q", "{pod=\"a\"}"}, {"mode", "flame"}}).status,
            200);
  const net::HttpResponse misspelt = Get("/explore", {{"form", "now-1h"}});
  EXPECT_EQ(misspelt.status, 400);
  EXPECT_THAT(misspelt.body, HasSubstr("unknown parameter 'form'"));
}

TEST_F(Pages, LinksOfFlameGraphsOfBeforeStillLead) {
  const net::HttpResponse moved =
      Get("/", {{"type", "cpu"}, {"q", "{pod=\"a b\"}"}, {"find", "f(x)"}});
  EXPECT_EQ(moved.status, 307);
  EXPECT_EQ(Header(moved, "Location"), "explore?type=cpu&q=%7Bpod%3D%22a%20b%22%7D&find=f%28x%29");
  EXPECT_EQ(Get("/", {{"type", "cpu"}}).status, 200);
}

TEST_F(Pages, AssetsMayBeKeptUnderTheirOwnAddressAlone) {
  for (const auto& [name, content] :
       {std::pair{"app.js", kAppScript}, std::pair{"app.css", kAppStyle}}) {
    const auto [path, version] = Asset(name);
    const net::HttpResponse kept = Get(path, {{"v", version}});
    EXPECT_EQ(kept.body, content);
    EXPECT_THAT(Header(kept, "Cache-Control"), HasSubstr("immutable"));
    EXPECT_EQ(Header(Get(path, {{"v", "0"}}), "Cache-Control"), "");
    EXPECT_EQ(Header(Get(path), "Cache-Control"), "");
  }
  EXPECT_THAT(std::string(kAppScript), HasSubstr("MIT License"));
}

TEST_F(Pages, NeedNoToken) {
  fixture_.Change([](Fixture::Answers& answers) { answers.token = "t"; });
  EXPECT_EQ(Get("/explore").status, 200);
  EXPECT_EQ(Get("/assets/app.js").status, 200);
  EXPECT_EQ(Get("/api/v1/top").status, 401);
}

}  // namespace
}  // namespace firetower::query
