// SPDX-License-Identifier: Apache-2.0
// POST /mcp of the API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class McpHttp : public ::testing::Test {
 protected:
  net::HttpResponse Post(const std::string& body,
                         const std::string& content_type = "application/json") {
    net::HttpRequest request;
    request.method = "POST";
    request.path = "/mcp";
    request.body = body;
    request.content_type = content_type;
    request.authorization = authorization_;
    return fixture_.api().Serve(request);
  }
  Json Call(const std::string& tool, const Json& arguments) {
    const Json message = {{"jsonrpc", "2.0"},
                          {"id", 1},
                          {"method", "tools/call"},
                          {"params", {{"name", tool}, {"arguments", arguments}}}};
    const net::HttpResponse response = Post(message.dump());
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.content_type, "application/json");
    return Json::parse(response.body)["result"];
  }
  static std::string TextOf(const Json& result) {
    return result["content"][0]["text"].get<std::string>();
  }
  Fixture fixture_;
  std::string authorization_;
};

TEST_F(McpHttp, AnswersOverTheSameApi) {
  const Json result = Call("top", {{"selector", "ns/shop"}});
  EXPECT_EQ(result["isError"], false);
  EXPECT_THAT(TextOf(result), HasSubstr("\"container\":\"sidecar\""));
  EXPECT_THAT(TextOf(result), Not(HasSubstr("sshd.service")));
  EXPECT_THAT(TextOf(Call("callers", {{"function", "Parse"}})), HasSubstr("< 48.00 Serve"));
}

TEST_F(McpHttp, TakesNotificationsWithoutAnAnswer) {
  const net::HttpResponse response =
      Post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_EQ(response.status, 202);
  EXPECT_EQ(response.body, "");
}

TEST_F(McpHttp, RefusesWhatABrowserMaySendUnasked) {
  EXPECT_EQ(Post("{}", "text/plain").status, 415);
  net::HttpRequest get;
  get.method = "GET";
  get.path = "/mcp";
  const net::HttpResponse response = fixture_.api().Serve(get);
  EXPECT_EQ(response.status, 405);
  EXPECT_THAT(response.headers, ::testing::Contains(::testing::Pair("Allow", "POST")));
}

TEST_F(McpHttp, HasTheRightsOfWhoAsks) {
  fixture_.Change([](Fixture::Answers& answers) { answers.token = "s3cret"; });
  const std::string list = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
  EXPECT_EQ(Post(list).status, 401);
  authorization_ = "Bearer s3cret";
  EXPECT_EQ(Post(list).status, 200);
  fixture_.Change([](Fixture::Answers& answers) { answers.only_namespace = "-"; });
  const std::string text = TextOf(Call("top", Json::object()));
  EXPECT_THAT(text, HasSubstr("sshd.service"));
  EXPECT_THAT(text, Not(HasSubstr("sidecar")));
}

TEST_F(McpHttp, ReadsOnByACursorThatNobodyGuesses) {
  const std::string text = TextOf(Call("top", {{"max_tokens", 100}}));
  const size_t at = text.find("read_on with cursor ");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string cursor = text.substr(at + 20, text.size() - at - 21);
  EXPECT_GT(cursor.find(':'), 31u);
  const Json rest = Call("read_on", {{"cursor", cursor}});
  EXPECT_EQ(rest["isError"], false);
  EXPECT_EQ(Call("read_on", {{"cursor", "0" + cursor.substr(1)}})["isError"], cursor[0] != '0');
}

TEST_F(McpHttp, TellsTheServersErrors) {
  const Json result = Call("top", {{"selector", "{pod=}"}});
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(TextOf(result), HasSubstr("the server answered 400"));
}

}  // namespace
}  // namespace firetower::query
