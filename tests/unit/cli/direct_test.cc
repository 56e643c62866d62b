// SPDX-License-Identifier: Apache-2.0
#include "cli/http/direct.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "tests/support/k8s/fake_http_server.h"

namespace firetower::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<HttpTransport> To(const k8s::FakeHttpServer& server,
                                  size_t max_reply_bytes = kMaxReplyBytes) {
  return OpenDirect(ParseServerUrl("http://127.0.0.1:" + std::to_string(server.port())).value(),
                    20 * kNsPerSecond, "", max_reply_bytes);
}

TEST(DirectTransport, KeepsItsConnection) {
  k8s::FakeHttpServer server([](k8s::FakePeer& peer, const std::string& request) {
    return peer.Reply("200 OK", request.substr(0, request.find(" HTTP")),
                      "X-Firetower-Skipped: 7\r\n");
  });
  const std::unique_ptr<HttpTransport> transport = To(server);
  for (int i = 0; i < 3; ++i) {
    Outcome<HttpAnswer> answer = transport->Get("/a?b=c", nullptr);
    ASSERT_TRUE(answer) << answer.failure().Text("");
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "GET /a?b=c");
    EXPECT_EQ(answer->skipped, "7");
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(DirectTransport, TakesNoMoreThanItsLimit) {
  k8s::FakeHttpServer server([](k8s::FakePeer& peer, const std::string&) {
    return peer.Reply("200 OK", std::string(2048, 'x'));
  });
  EXPECT_EQ(To(server, 2048)->Get("/", nullptr)->body.size(), 2048u);
  const Outcome<HttpAnswer> cut = To(server, 2047)->Get("/", nullptr);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.failure().exit_code, ExitCode::kFailure);
  EXPECT_THAT(cut.failure().Text("firetower"),
              HasSubstr("the answer is too large\n  why: it passes 2"));
  EXPECT_THAT(To(server, 1024)->Get("/", nullptr).failure().Text(""), HasSubstr("1.0 KiB"));
}

TEST(DirectTransport, TellsASlowAnswerFromNone) {
  k8s::FakeHttpServer server([](k8s::FakePeer& peer, const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    return peer.Reply("200 OK", "late");
  });
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port());
  const auto transport =
      OpenDirect(ParseServerUrl(url).value(), 200 * kNsPerMs, "", kMaxReplyBytes);
  const Outcome<HttpAnswer> answer = transport->Get("/", nullptr);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.failure().exit_code, ExitCode::kUnreachable);
  const std::string text = answer.failure().Text("firetower");
  EXPECT_THAT(text, HasSubstr("did not answer within 200ms"));
  EXPECT_THAT(text, HasSubstr("--timeout"));
  EXPECT_THAT(text, Not(HasSubstr("start firetowerd")));
}

// A server may close an idle connection at the very moment of a request.
TEST(DirectTransport, AsksOnceMoreWhereAKeptConnectionIsCut) {
  std::atomic<int> requests = 0;
  k8s::FakeHttpServer server([&](k8s::FakePeer& peer, const std::string&) {
    return ++requests != 2 && peer.Reply("200 OK", "x");
  });
  const std::unique_ptr<HttpTransport> transport = To(server);
  EXPECT_TRUE(transport->Get("/", nullptr));
  Outcome<HttpAnswer> second = transport->Get("/", nullptr);
  ASSERT_TRUE(second) << second.failure().Text("");
  EXPECT_EQ(second->body, "x");
  EXPECT_EQ(requests, 3);
  EXPECT_EQ(server.connections(), 2);
}

TEST(DirectTransport, GivesUpWhereAFreshConnectionIsCut) {
  std::atomic<int> requests = 0;
  k8s::FakeHttpServer server([&](k8s::FakePeer&, const std::string&) {
    ++requests;
    return false;
  });
  const Outcome<HttpAnswer> answer = To(server)->Get("/", nullptr);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.failure().exit_code, ExitCode::kUnreachable);
  EXPECT_THAT(answer.failure().why, HasSubstr("the connection broke"));
  EXPECT_EQ(requests, 1);
}

}  // namespace
}  // namespace firetower::cli
