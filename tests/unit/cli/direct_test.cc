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
#include "base/file.h"
#include "tests/support/k8s/fake_http_server.h"

namespace firetower::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<HttpTransport> To(const k8s::FakeHttpServer& server,
                                  size_t max_reply_bytes = kMaxReplyBytes) {
  return OpenDirect(ParseServerUrl("http://127.0.0.1:" + std::to_string(server.port())).value(),
                    {.timeout_ns = 20 * kNsPerSecond, .max_reply_bytes = max_reply_bytes})
      .value();
}

TEST(DirectTransport, KeepsItsConnection) {
  k8s::FakeHttpServer server([](k8s::FakePeer& peer, const std::string& request) {
    return peer.Reply("200 OK", request.substr(0, request.find(" HTTP")),
                      "X-Firetower-Skipped: 7\r\n");
  });
  const std::unique_ptr<HttpTransport> transport = To(server);
  for (int i = 0; i < 3; ++i) {
    Outcome<net::HttpResponse> answer = transport->Get("/a?b=c", nullptr);
    ASSERT_TRUE(answer) << answer.failure().Text("");
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "GET /a?b=c");
    EXPECT_EQ(answer->Header("x-firetower-skipped"), "7");
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(DirectTransport, TakesNoMoreThanItsLimit) {
  k8s::FakeHttpServer server([](k8s::FakePeer& peer, const std::string&) {
    return peer.Reply("200 OK", std::string(2048, 'x'));
  });
  EXPECT_EQ(To(server, 2048)->Get("/", nullptr)->body.size(), 2048u);
  const Outcome<net::HttpResponse> cut = To(server, 2047)->Get("/", nullptr);
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
      OpenDirect(ParseServerUrl(url).value(), {.timeout_ns = 200 * kNsPerMs}).value();
  const Outcome<net::HttpResponse> answer = transport->Get("/", nullptr);
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
  Outcome<net::HttpResponse> second = transport->Get("/", nullptr);
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
  const Outcome<net::HttpResponse> answer = To(server)->Get("/", nullptr);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.failure().exit_code, ExitCode::kUnreachable);
  EXPECT_THAT(answer.failure().why, HasSubstr("the connection broke"));
  EXPECT_EQ(requests, 1);
}

TEST(DirectTransport, TrustsTheAuthorityItIsTold) {
  const k8s::TestCertificate authority = k8s::MakeAuthority("authority");
  const k8s::TestCertificate certificate =
      k8s::MakeCertificate(authority, "firetower", "DNS:localhost,IP:127.0.0.1");
  k8s::FakeHttpServer server(
      {.certificate = &certificate},
      [](k8s::FakePeer& peer, const std::string&) { return peer.Reply("200 OK", "x"); });
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port());
  const std::string ca_file = ::testing::TempDir() + "/direct-ca.pem";
  ASSERT_TRUE(WriteFileAtomic(ca_file, authority.certificate_pem));
  const auto get = [&](const std::string& file) {
    auto transport =
        OpenDirect(ParseServerUrl(url).value(), {.timeout_ns = 20 * kNsPerSecond, .ca_file = file});
    return (*transport)->Get("/", nullptr);
  };
  const Outcome<net::HttpResponse> answer = get(ca_file);
  ASSERT_TRUE(answer) << answer.failure().Text("");
  EXPECT_EQ(answer->body, "x");
  const Outcome<net::HttpResponse> unknown = get("");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.failure().exit_code, ExitCode::kUnreachable);
  EXPECT_THAT(unknown.failure().Text("firetower"),
              AllOf(HasSubstr("cannot trust https://127.0.0.1:"),
                    HasSubstr("certificate is not trusted"), HasSubstr("--certificate-authority")));
  EXPECT_FALSE(OpenDirect(ParseServerUrl(url).value(), {.ca_file = "/nowhere/ca.pem"}));
}

}  // namespace
}  // namespace firetower::cli
