// SPDX-License-Identifier: Apache-2.0
// Tests of the real binary against servers that do not answer as a daemon or a hub does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/args/spec.h"
#include "net/message.h"
#include "query/http/errors.h"
#include "query/wire.h"
#include "tests/support/k8s/fake_http_server.h"
#include "tests/unit/cli/program.h"

namespace firetower::cli {
namespace {

using ::testing::HasSubstr;

std::string UrlOf(const k8s::FakeHttpServer& server) {
  return "http://127.0.0.1:" + std::to_string(server.port());
}

TEST(Refusals, AnAnswerOfSomethingElseIsToldWithWhatToDo) {
  k8s::FakeHttpServer server(
      [](k8s::FakePeer& peer, const std::string&) { return peer.Reply("418 I'm a teapot", "no"); });
  const Ran ran = RunFiretower({"labels", "--server", UrlOf(server)});
  EXPECT_EQ(ran.exit_code, ExitCode::kFailure);
  EXPECT_EQ(ran.err, "firetower: " + UrlOf(server) +
                         " answered 418\n  why: no\n  fix: check that the server is a Firetower of "
                         "this version, and no proxy before it\n");
}

// A daemon on a loopback address is asked by a name which is not its own.
TEST(Refusals, AServerThatDoesNotKnowItsNameIsToBeAskedByItsAddress) {
  k8s::FakeHttpServer server([](k8s::FakePeer& peer, const std::string&) {
    return peer.Reply("421 Misdirected Request", query::JsonError(421, "asked as 'box'").body);
  });
  const Ran ran = RunFiretower({"labels", "--server", UrlOf(server)});
  EXPECT_EQ(ran.exit_code, ExitCode::kUnreachable);
  EXPECT_EQ(ran.err, "firetower: " + UrlOf(server) +
                         " refuses its name\n  why: asked as 'box'\n  fix: give --server its IP "
                         "address, or localhost\n");
}

TEST(Refusals, AProfileThatCannotBeReadIsToldWithWhatToDo) {
  query::TopReply top;
  top.by = "functions";
  top.functions.emplace_back().function = "main";
  k8s::FakeHttpServer server([&](k8s::FakePeer& peer, const std::string& request) {
    const bool is_top = request.find("/api/v1/top") != std::string::npos;
    return peer.Reply("200 OK", is_top ? query::ToJson(top) : "rubbish");
  });
  const Ran ran =
      RunFiretower({"top", "functions", "--symbols", "names", "--server", UrlOf(server)});
  EXPECT_EQ(ran.exit_code, ExitCode::kFailure) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("firetower: the server's profile cannot be read\n  why: "));
  EXPECT_THAT(ran.err, HasSubstr("\n  fix: fetch it with 'get' to look at it\n"));
}

// The chart's default. Of all questions: where nothing matches, `get` has another exit code.
TEST(Refusals, AHubWithoutAStoreIsCalledThat) {
  k8s::FakeHttpServer server([](k8s::FakePeer& peer, const std::string&) {
    return peer.Reply("404 Not Found", query::NoStoreError("there are /metrics").body);
  });
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"doctor"}, {"get", "-o", "folded"}, {"top"}}) {
    std::vector<std::string> arguments = line;
    arguments.insert(arguments.end(), {"--server", UrlOf(server)});
    const Ran ran = RunFiretower(arguments);
    EXPECT_EQ(ran.exit_code, ExitCode::kFailure) << line[0];
    EXPECT_EQ(ran.out, "") << line[0];
    EXPECT_THAT(ran.err, HasSubstr("firetower: " + UrlOf(server) + " has no profiles\n"))
        << line[0];
    EXPECT_THAT(ran.err, HasSubstr("why: it is a hub that was told no store")) << line[0];
    EXPECT_THAT(ran.err, HasSubstr("\n  fix: give it one, store.url of the chart")) << line[0];
  }
}

// A daemon whose bucket is down is still ready. The problem may end by itself, or need a person.
TEST(Refusals, AServerThatCannotAnswerSaysWhyAndWhenToComeBack) {
  std::string headers;
  k8s::FakeHttpServer server([&](k8s::FakePeer& peer, const std::string&) {
    return peer.Reply("503 Service Unavailable",
                      query::JsonError(503, "the store cannot be read: gone").body, headers);
  });
  const std::vector<std::string> line = {"top", "--server", UrlOf(server)};
  const Ran down = RunFiretower(line);
  EXPECT_EQ(down.exit_code, ExitCode::kUnreachable);
  EXPECT_THAT(down.err,
              HasSubstr(UrlOf(server) + " answered 503\n  why: the store cannot be read: gone\n"));
  EXPECT_THAT(down.err, HasSubstr("\n  fix: try again; if it stays so, mend what it names"));
  headers = "Retry-After: 2\r\n";
  EXPECT_THAT(RunFiretower(line).err, HasSubstr("\n  fix: try again in 2 s\n"));
}

TEST(Refusals, AServerWithoutThatPathIsNoFiretowerOfThisVersion) {
  k8s::FakeHttpServer server([](k8s::FakePeer& peer, const std::string&) {
    return peer.Reply("404 Not Found", query::JsonError(404, "no such path").body);
  });
  const Ran ran = RunFiretower({"doctor", "--server", UrlOf(server)});
  EXPECT_EQ(ran.exit_code, ExitCode::kFailure);
  EXPECT_THAT(ran.err, HasSubstr(" has no /api/v1/doctor\n  why: no such path\n"));
}

}  // namespace
}  // namespace firetower::cli
