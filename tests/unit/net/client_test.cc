// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/thread.h"
#include "net/client/curl_client.h"
#include "net/client/stream.h"
#include "tests/support/k8s/fake_http_server.h"

namespace firetower::net {
namespace {

using ::firetower::k8s::FakeHttpServer;
using ::firetower::k8s::FakePeer;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string UrlOf(const FakeHttpServer& server, const std::string& path = "/") {
  return "http://127.0.0.1:" + std::to_string(server.port()) + path;
}

Result<HttpResponse> Get(const std::string& url, ClientOptions options = {.proxy = "none"}) {
  return CurlClient(std::move(options)).Send({.url = url}, {});
}

TEST(CurlClient, GivesStatusHeadersAndBody) {
  FakeHttpServer server([](FakePeer& peer, const std::string&) {
    return peer.Reply("201 Created", "hello", "X-Two: a\r\nContent-Type: text/x\r\nx-two:  b \r\n");
  });
  const Result<HttpResponse> response = Get(UrlOf(server));
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "hello");
  EXPECT_EQ(response->content_type, "text/x");
  EXPECT_EQ(response->Header("x-two"), "a");
  EXPECT_EQ(response->Header("x-three"), "");
}

TEST(CurlClient, EveryCutOfAResponseIsAnError) {
  const std::string whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  std::atomic<size_t> length = 0;
  FakeHttpServer server([&](FakePeer& peer, const std::string&) {
    peer.Write(std::string_view(whole).substr(0, length));
    return false;
  });
  for (; length < whole.size(); ++length) {
    const Result<HttpResponse> response = Get(UrlOf(server));
    ASSERT_FALSE(response) << length;
    EXPECT_EQ(response.error().code(), ErrorCode::kUnavailable) << length;
  }
  EXPECT_EQ(Get(UrlOf(server))->body, "hello");
}

// It may have been done.
TEST(CurlClient, SendsAWriteOnceWhereItIsToldTo) {
  for (const bool resend : {false, true}) {
    std::atomic<int> requests = 0;
    FakeHttpServer server([&](FakePeer& peer, const std::string&) {
      return ++requests != 2 && peer.Reply("200 OK", "x");
    });
    CurlClient client({.proxy = "none"});
    const ClientRequest request{
        .method = "PATCH", .url = UrlOf(server), .body = "{}", .resend = resend};
    ASSERT_TRUE(client.Send(request, {}));
    const Result<HttpResponse> second = client.Send(request, {});
    EXPECT_EQ(second.has_value(), resend);
    EXPECT_EQ(requests, resend ? 3 : 2);
    if (!second) {
      EXPECT_THAT(second.error().message(), HasSubstr("the connection broke"));
    }
  }
}

TEST(CurlClient, FollowsRedirectsOnlyWhereItIsToldTo) {
  FakeHttpServer server({.concurrent = true}, [](FakePeer& peer, const std::string& request) {
    if (request.starts_with("GET /there")) return peer.Reply("200 OK", "hello");
    return peer.Reply("302 Found", "", "Location: /there\r\n");
  });
  CurlClient client({.proxy = "none"});
  EXPECT_EQ(client.Send({.url = UrlOf(server)}, {})->status, 302);
  EXPECT_EQ(client.Send({.url = UrlOf(server), .max_redirects = 1}, {})->body, "hello");
}

TEST(CurlClient, NamesTheLimitOfAWait) {
  FakeHttpServer server([](FakePeer& peer, const std::string&) {
    peer.AwaitClose();
    return false;
  });
  CurlClient client({.proxy = "none"});
  const Result<HttpResponse> response =
      client.Send({.url = UrlOf(server), .head_timeout_ns = 30 * kNsPerMs}, {});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().sys_errno(), ETIMEDOUT);
  EXPECT_THAT(response.error().message(),
              AllOf(StartsWith("GET http://127.0.0.1:"), HasSubstr("no answer within 30ms")));
}

// Sets a variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

TEST(CurlClient, TakesProxiesOfTheEnvironment) {
  std::vector<std::string> asked;
  FakeHttpServer proxy([&](FakePeer& peer, const std::string& request) {
    asked.push_back(request.substr(0, request.find("\r\n")));
    if (request.starts_with("CONNECT")) {
      peer.Reply("403 Forbidden", "");
      return false;
    }
    return peer.Reply("200 OK", "of the proxy");
  });
  const Variable plain("http_proxy", UrlOf(proxy));
  EXPECT_EQ(Get("http://server.test/a", {})->body, "of the proxy");
  for (const char* name : {"https_proxy", "HTTPS_PROXY"}) {
    const Variable secure(name, UrlOf(proxy));
    const Result<HttpResponse> response = Get("https://server.test/", {});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code(), ErrorCode::kPermission) << response.error().message();
  }
  EXPECT_THAT(asked, ::testing::ElementsAre("GET http://server.test/a HTTP/1.1",
                                            "CONNECT server.test:443 HTTP/1.1",
                                            "CONNECT server.test:443 HTTP/1.1"));
  asked.clear();
  FakeHttpServer own(
      [](FakePeer& peer, const std::string&) { return peer.Reply("200 OK", "own"); });
  for (const char* name : {"no_proxy", "NO_PROXY"}) {
    const Variable none(name, "other.test,127.0.0.0/8");
    EXPECT_EQ(Get(UrlOf(own), {})->body, "own") << name;
  }
  EXPECT_EQ(CurlClient().Send({.url = UrlOf(own), .link_local = true}, {})->body, "own");
  EXPECT_THAT(asked, IsEmpty());
  // One that is named is used whatever no_proxy says.
  const Variable none("no_proxy", "*");
  EXPECT_EQ(Get("http://server.test/", {.proxy = UrlOf(proxy)})->body, "of the proxy");
}

TEST(CurlClient, ConnectsWhereItIsTold) {
  FakeHttpServer server([](FakePeer& peer, const std::string& request) {
    return peer.Reply("200 OK", request.substr(request.find("Host: "), 20));
  });
  const Result<HttpResponse> response =
      Get("http://named.test:80/",
          {.proxy = "none", .connect_to = "127.0.0.1:" + std::to_string(server.port())});
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_THAT(response->body, StartsWith("Host: named.test\r\n"));
}

TEST(CurlClient, TrustsNobodyElseWithAnAuthorityOfItsOwn) {
  const k8s::TestCertificate authority = k8s::MakeAuthority("authority");
  const k8s::TestCertificate other = k8s::MakeAuthority("other");
  const k8s::TestCertificate certificate =
      k8s::MakeCertificate(authority, "127.0.0.1", "IP:127.0.0.1");
  FakeHttpServer server({.certificate = &certificate}, [](FakePeer& peer, const std::string&) {
    return peer.Reply("200 OK", "hello");
  });
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port());
  EXPECT_EQ(Get(url, {.ca_pem = authority.certificate_pem, .proxy = "none"})->body, "hello");
  const Result<HttpResponse> response =
      Get(url, {.ca_pem = other.certificate_pem, .trust_advice = "ask her", .proxy = "none"});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code(), ErrorCode::kPermission);
  EXPECT_THAT(response.error().message(),
              AllOf(HasSubstr("certificate is not trusted"), HasSubstr("ask her")));
  EXPECT_EQ(CurlClient::Create({.ca_pem = "nothing"}).error().code(), ErrorCode::kInvalid);
}

TEST(OpenStream, CarriesBytesBothWaysAndTellsTheEnd) {
  FakeHttpServer server([](FakePeer& peer, const std::string& request) {
    peer.Write("you said " + request.substr(0, 3));
    return false;
  });
  const Url url = ParseUrl(UrlOf(server)).value();
  auto stream = OpenStream({.proxy = "none"}, url, -1, 20 * kNsPerSecond);
  ASSERT_TRUE(stream) << stream.error().message();
  char buffer[100];
  const Result<size_t> nothing = (*stream)->Read(buffer, sizeof buffer, 0);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().sys_errno(), ETIMEDOUT);
  ASSERT_TRUE((*stream)->Write("GET / HTTP/1.1\r\n\r\n", 20 * kNsPerSecond));
  std::string all;
  for (;;) {
    const Result<size_t> got = (*stream)->Read(buffer, sizeof buffer, 20 * kNsPerSecond);
    ASSERT_TRUE(got) << got.error().message();
    if (*got == 0) break;
    all.append(buffer, *got);
  }
  EXPECT_EQ(all, "you said GET");
}

TEST(OpenStream, EndsAtOnceWhenCancelled) {
  FakeHttpServer server([](FakePeer& peer, const std::string&) {
    peer.AwaitClose();
    return false;
  });
  WakeFd cancel;
  const Url url = ParseUrl(UrlOf(server)).value();
  auto stream = OpenStream({.proxy = "none"}, url, cancel.fd(), 20 * kNsPerSecond);
  ASSERT_TRUE(stream) << stream.error().message();
  cancel.Notify();
  char buffer[1];
  const Result<size_t> got = (*stream)->Read(buffer, sizeof buffer, 20 * kNsPerSecond);
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message(), AllOf(HasSubstr("cancelled"), Not(HasSubstr("within"))));
}

}  // namespace
}  // namespace firetower::net
