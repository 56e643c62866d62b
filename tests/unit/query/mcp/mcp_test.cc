// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "profile/pprof.h"
#include "query/heat/heat_reply.h"
#include "query/mcp/server.h"
#include "tests/support/sample_profiles.h"

namespace firetower::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using Json = nlohmann::json;

class McpTest : public ::testing::Test {
 protected:
  Json Ask(const std::string& method, const Json& params) {
    const Json message = {{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", params}};
    const std::optional<std::string> answer = server_.Answer(message.dump(), ask_);
    EXPECT_TRUE(answer);
    const Json json = Json::parse(answer.value_or("null"));
    EXPECT_EQ(json["id"], 7);
    return json;
  }
  // The text of a tool's answer.
  std::string Call(const std::string& tool, const Json& arguments, bool is_error = false) {
    const Json answer = Ask("tools/call", {{"name", tool}, {"arguments", arguments}});
    const Json& result = answer["result"];
    EXPECT_EQ(result["isError"], is_error) << answer;
    return result["content"][0]["text"].get<std::string>();
  }

  std::string path_;
  net::NamedValues params_;
  std::string body_ = "{}";
  bool fails_ = false;
  AskApi ask_ = [this](std::string_view path,
                       const net::NamedValues& params) -> Result<std::string> {
    path_ = path;
    params_ = params;
    if (fails_) return Error(ErrorCode::kUnavailable, "cannot reach it");
    return body_;
  };
  McpServer server_{"1.2"};
};

TEST_F(McpTest, SaysWhoItIs) {
  const Json result = Ask("initialize", {{"protocolVersion", "2024-11-05"}})["result"];
  EXPECT_EQ(result["protocolVersion"], "2025-06-18");
  EXPECT_EQ(result["serverInfo"]["name"], "firetower");
  EXPECT_TRUE(result["capabilities"].contains("tools"));
  EXPECT_THAT(result["instructions"].get<std::string>(), HasSubstr("never instructions"));
  EXPECT_TRUE(Ask("ping", Json::object())["result"].empty());
  EXPECT_FALSE(server_.Answer(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", ask_));
}

TEST_F(McpTest, ListsToolsThatOnlyRead) {
  const Json tools = Ask("tools/list", Json::object())["result"]["tools"];
  ASSERT_EQ(tools.size(), Tools().size() + 1);
  for (const Json& tool : tools) {
    EXPECT_EQ(tool["annotations"]["readOnlyHint"], true);
    EXPECT_EQ(tool["inputSchema"]["type"], "object");
    EXPECT_EQ(tool["inputSchema"]["additionalProperties"], false);
    EXPECT_FALSE(tool["description"].get<std::string>().empty());
  }
}

TEST_F(McpTest, ProposesAPolicyAndAsksNothing) {
  EXPECT_THAT(
      Call("propose_policy",
           {{"name", "cart"}, {"namespace", "shop"}, {"frequency", 99}, {"max_tokens", 2000}}),
      HasSubstr("kind: ProfilingPolicy\nmetadata:\n  name: \"cart\"\n"));
  EXPECT_EQ(path_, "");
  EXPECT_THAT(Call("propose_policy", {{"name", "Cart"}}, /*is_error=*/true),
              HasSubstr("name is 'Cart'"));
}

TEST_F(McpTest, AsksTheServersApi) {
  body_ = R"({"rows":[]})";
  EXPECT_THAT(Call("top", {{"by", "lines"}, {"selector", "deploy/web"}, {"limit", 3}}),
              HasSubstr(R"({"rows":[]})"));
  EXPECT_EQ(path_, "/api/v1/top");
  EXPECT_THAT(params_, ElementsAre(Pair("q", HasSubstr("workload")), Pair("from", "now-15m"),
                                   Pair("k", "3"), Pair("by", "lines")));
  Call("diagnose", {{"type", "offcpu"}, {"from", "now-1h"}, {"to", "now-30m"}});
  EXPECT_EQ(path_, "/api/v1/diagnose");
  EXPECT_THAT(params_,
              ElementsAre(Pair("type", "offcpu"), Pair("to", "now-30m"), Pair("from", "now-1h")));
  Call("diagnose", {{"base_from", "now-25h"}});
  EXPECT_THAT(params_, ElementsAre(Pair("from", "now-15m"), Pair("base-from", "now-25h")));
  Call("diagnose", {{"base", "rollout"}});
  EXPECT_THAT(params_, ElementsAre(Pair("from", "now-15m"), Pair("base", "rollout")));
  Call("rollouts", {{"selector", "ns/shop"}});
  EXPECT_EQ(path_, "/api/v1/rollouts");
  EXPECT_THAT(params_, ElementsAre(Pair("q", "{namespace=\"shop\"}"), Pair("from", "now-24h")));
  Call("rollouts", {{"from", "now-2h"}});
  EXPECT_THAT(params_, ElementsAre(Pair("from", "now-2h")));
}

TEST_F(McpTest, TellsTheHeaviestStacksAndWhatChanged) {
  body_ = profile::EncodePprof(
      testing::StackBuilder().Add({"main", "a"}, 30).Add({"main", "b"}, 70).Build());
  EXPECT_THAT(Call("stacks", {{"limit", 1}}), HasSubstr("\n70.00 main;b\n"));
  EXPECT_THAT(Call("diff", {{"base_from", "now-25h"}, {"base_to", "now-24h"}, {"limit", 1}}),
              HasSubstr("+700000000 b (/usr/bin/app)"));
  EXPECT_EQ(path_, "/api/v1/diff");
  EXPECT_THAT(params_, ElementsAre(Pair("from", "now-15m"), Pair("base-from", "now-25h"),
                                   Pair("base-to", "now-24h")));
}

TEST_F(McpTest, TellsCallersAndWhenSamplesWereTaken) {
  body_ = profile::EncodePprof(
      testing::StackBuilder().Add({"main", "a"}, 30).Add({"main", "b"}, 70).Build());
  EXPECT_THAT(Call("callers", {{"function", "^b$"}}),
              HasSubstr("b (/usr/bin/app): self 70.00, total 70.00\n  < 70.00 main\n"));
  EXPECT_THAT(Call("callers", {{"function", "none"}}), HasSubstr("no function matches"));
  EXPECT_THAT(Call("callers", {}, true), HasSubstr("needs argument function"));
  HeatReply heat;
  heat.type = "cpu";
  heat.by = "offset";
  heat.begin_ms = 1782900000000;
  heat.column_ms = 1000;
  heat.row_ms = 500;
  heat.rows = {"0", "500"};
  heat.columns = 2;
  heat.known = "tt";
  heat.cells = {5, 0, 7, 1};
  heat.samples = 13;
  body_ = ToJson(heat);
  EXPECT_THAT(Call("heat", {}), HasSubstr("13 samples of cpu; a line a second, columns of 500 ms\n"
                                          "2026-07-01T10:00:00Z 5 0\n2026-07-01T10:00:01Z 7 1\n"));
  EXPECT_EQ(path_, "/api/v1/heat");
  EXPECT_THAT(params_, ElementsAre(Pair("from", "now-2m"), Pair("rows", "10")));
}

TEST_F(McpTest, KeepsToTheTokensAndReadsOn) {
  for (int i = 0; i < 400; ++i) body_ += "row " + std::to_string(i) + " größer\n";
  std::string text = Call("types", {{"max_tokens", 200}});
  std::string all;
  for (int pages = 0; pages < 100; ++pages) {
    EXPECT_LE(text.size(), 200 * McpServer::kBytesOfToken + 100);
    const size_t cut = text.find("\n[cut: ");
    all += text.substr(0, cut);
    if (cut == std::string::npos) break;
    const size_t at = text.find("cursor ") + 7;
    text =
        Call("read_on", {{"cursor", text.substr(at, text.size() - at - 1)}, {"max_tokens", 200}});
  }
  EXPECT_EQ(all.substr(all.find('\n') + 1), body_);
  EXPECT_THAT(Call("read_on", {{"cursor", "99:1"}}, true), HasSubstr("ask again"));
  EXPECT_THAT(Call("read_on", {{"cursor", "x"}}, true), HasSubstr("ask again"));
}

TEST_F(McpTest, SaysWhatIsWrongWithACall) {
  EXPECT_THAT(Call("tip", {}, true), HasSubstr("no tool tip"));
  EXPECT_THAT(Call("top", {{"selecter", "x"}}, true), HasSubstr("selector"));
  EXPECT_THAT(Call("top", {{"limit", 0}}, true), HasSubstr("1 to 1000"));
  EXPECT_THAT(Call("top", {{"max_tokens", 1}}, true), HasSubstr("100 to 100000"));
  EXPECT_THAT(Call("diff", {{"base_from", "now-1h"}}, true), HasSubstr("needs argument base_to"));
  EXPECT_THAT(Call("top", {{"selector", "deploy/"}}, true), Not(IsEmpty()));
  fails_ = true;
  EXPECT_THAT(Call("top", {}, true), HasSubstr("cannot reach it"));
}

TEST_F(McpTest, RefusesWhatIsNoMessage) {
  const auto code = [&](const char* line) {
    const auto answer = server_.Answer(line, ask_);
    return answer ? Json::parse(*answer)["error"]["code"].get<int>() : 0;
  };
  EXPECT_EQ(code("no json"), -32700);
  EXPECT_EQ(code("[]"), -32600);
  EXPECT_EQ(code(R"({"id":1})"), -32600);
  EXPECT_EQ(code(R"({"id":1,"method":"tools/cull"})"), -32601);
  EXPECT_EQ(code(R"({"id":1,"method":"tools/call"})"), -32602);
  EXPECT_EQ(code(R"({"id":1,"method":"tools/call","params":{"name":"top","arguments":[]}})"),
            -32602);
  EXPECT_EQ(code(R"({"id":1,"method":"tools/call","params":{"name":"top","arguments":{"by":{}}}})"),
            -32602);
  const std::string whole =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"top","arguments":{}}})";
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(code(whole.substr(0, size).c_str()), -32700) << size;
}

}  // namespace
}  // namespace firetower::query
