// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/api_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>

#include "base/file.h"
#include "k8s/client/pod_port.h"
#include "tests/support/k8s/fake_http_server.h"
#include "tests/support/k8s/fake_pod_port.h"

namespace firetower::k8s {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TextSink : public BodySink {
 public:
  bool OnBody(std::string_view bytes) override {
    text.append(bytes);
    if (on_body) on_body();
    return text.size() <= most;
  }
  int64_t idle_timeout_ns() const override { return idle_ns; }
  std::string text;
  size_t most = 64 << 20;
  int64_t idle_ns = 20 * kNsPerSecond;
  std::function<void()> on_body;
};

// A client for the server at `port`.
ClientConfig ConfigFor(uint16_t port, bool tls = false) {
  ClientConfig config;
  config.server = {tls, "127.0.0.1", port, ""};
  config.token = "secret";
  return config;
}

Result<ApiReply> Get(ClientConfig config, TextSink& sink) {
  ApiClient client(std::move(config), "firetower/1 (agent)", Clock::System());
  return client.Send({.target = "/api"}, sink);
}

std::string Gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(ApiClient, SaysWhoItIsAndWhatItTakes) {
  std::string seen;
  FakeHttpServer server([&](FakePeer& peer, const std::string& request) {
    seen = request;
    return peer.Reply("200 OK", "{}");
  });
  ClientConfig config = ConfigFor(server.port());
  config.server.path = "/base";
  TextSink sink;
  Result<ApiReply> reply = Get(config, sink);
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(sink.text, "{}");
  EXPECT_THAT(seen, AllOf(HasSubstr("GET /base/api HTTP/1.1\r\n"),
                          HasSubstr("User-Agent: firetower/1 (agent)\r\n"),
                          HasSubstr("Authorization: Bearer secret\r\n"),
                          HasSubstr("Accept: application/json\r\n"),
                          HasSubstr("Accept-Encoding: gzip\r\n"), HasSubstr("Host: 127.0.0.1")));
}

TEST(ApiClient, ReadsChunkedAndGzippedBodies) {
  const std::string text(200000, 'x');
  const std::string gzip = Gzip(text);
  FakeHttpServer server([&](FakePeer& peer, const std::string&) {
    peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n");
    for (size_t at = 0; at < gzip.size(); at += 7) {
      const std::string piece = gzip.substr(at, 7);
      peer.Write(std::to_string(piece.size()) + "\r\n" + piece + "\r\n");
    }
    return peer.Write("0\r\n\r\n");
  });
  TextSink sink;
  Result<ApiReply> reply = Get(ConfigFor(server.port()), sink);
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(sink.text, text);
}

TEST(ApiClient, KeepsItsConnection) {
  FakeHttpServer server(
      [](FakePeer& peer, const std::string&) { return peer.Reply("200 OK", "{}"); });
  ApiClient client(ConfigFor(server.port()), "x", Clock::System());
  TextSink sink;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.Send({.target = "/api"}, sink));
  EXPECT_EQ(server.connections(), 1);
}

// The server may have closed it, and a write that nobody answered is not sent again.
TEST(ApiClient, WritesOnNoConnectionThatWasIdleForLong) {
  FakeHttpServer server(
      [](FakePeer& peer, const std::string&) { return peer.Reply("200 OK", "{}"); });
  FakeClock clock(1, 1);
  ApiClient client(ConfigFor(server.port()), "x", clock);
  TextSink sink;
  const ApiRequest write{.method = "PATCH", .target = "/api", .body = "{}"};
  ASSERT_TRUE(client.Send(write, sink));
  clock.Advance(ApiClient::kMaxIdleNs - 1);
  ASSERT_TRUE(client.Send(write, sink));
  EXPECT_EQ(server.connections(), 1);
  clock.Advance(ApiClient::kMaxIdleNs);
  ASSERT_TRUE(client.Send(write, sink));
  EXPECT_EQ(server.connections(), 2);
}

TEST(ApiClient, ReplacesAConnectionThatTheServerClosed) {
  FakeHttpServer server([](FakePeer& peer, const std::string&) {
    peer.Reply("200 OK", "{}");
    return false;
  });
  ApiClient client(ConfigFor(server.port()), "x", Clock::System());
  TextSink sink;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.Send({.target = "/api"}, sink));
  EXPECT_EQ(server.connections(), 3);
}

TEST(ApiClient, ACutReplyIsAnError) {
  const std::vector<std::string> replies = {
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n12345",
      "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 2"};
  for (const std::string& text : replies) {
    FakeHttpServer server([&](FakePeer& peer, const std::string&) {
      peer.Write(text);
      return false;
    });
    TextSink sink;
    Result<ApiReply> reply = Get(ConfigFor(server.port()), sink);
    ASSERT_FALSE(reply) << text;
    EXPECT_EQ(reply.error().code(), ErrorCode::kCorrupt) << text;
    EXPECT_THAT(reply.error().message(), HasSubstr("http://127.0.0.1:"));
  }
}

TEST(ApiClient, WhatIsNoHttpIsAnError) {
  for (const std::string& text : {std::string("SSH-2.0-OpenSSH_9.2\r\n"), std::string(5000, 'x'),
                                  "HTTP/1.1 200 OK\r\n" + std::string(100000, 'h')}) {
    FakeHttpServer server([&](FakePeer& peer, const std::string&) {
      peer.Write(text);
      return false;
    });
    TextSink sink;
    Result<ApiReply> reply = Get(ConfigFor(server.port()), sink);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), ErrorCode::kCorrupt) << reply.error().message();
  }
}

TEST(ApiClient, AHeadWithoutEndIsRefused) {
  FakeHttpServer server([](FakePeer& peer, const std::string&) {
    peer.Write("HTTP/1.1 200 OK\r\n");
    while (peer.Write("X-More: and more\r\n")) {
    }
    return false;
  });
  TextSink sink;
  Result<ApiReply> reply = Get(ConfigFor(server.port()), sink);
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message(), HasSubstr("head is too long"));
}

TEST(ApiClient, ASilentServerIsGivenUp) {
  FakeHttpServer server([](FakePeer& peer, const std::string&) {
    peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n");
    peer.AwaitClose();
    return false;
  });
  TextSink sink;
  sink.idle_ns = 20 * kNsPerMs;
  Result<ApiReply> reply = Get(ConfigFor(server.port()), sink);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(sink.text, "{}");
}

TEST(ApiClient, CancellingEndsAWatchLongBeforeItsTime) {
  FakeHttpServer server([](FakePeer& peer, const std::string&) {
    peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n");
    peer.AwaitClose();
    return false;
  });
  ApiClient client(ConfigFor(server.port()), "x", Clock::System());
  TextSink sink;
  std::thread canceller;
  int64_t cancelled_ns = 0;
  sink.on_body = [&] {
    canceller = std::thread([&] {
      cancelled_ns = Clock::System().MonotonicNs();
      client.Cancel();
    });
  };
  Result<ApiReply> reply = client.Send({.target = "/api"}, sink);
  const int64_t ended_ns = Clock::System().MonotonicNs();
  canceller.join();
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message(), HasSubstr("cancelled"));
  // Milliseconds on a quiet machine; the watch itself would wait for 20 s.
  EXPECT_LT(ended_ns - cancelled_ns, kNsPerSecond);
  EXPECT_FALSE(client.Send({.target = "/api"}, sink)) << "it stays cancelled";
}

TEST(ApiClient, TheSinkMayHaveEnough) {
  FakeHttpServer server([](FakePeer& peer, const std::string&) {
    return peer.Reply("200 OK", std::string(100000, 'x'));
  });
  TextSink sink;
  sink.most = 10;
  Result<ApiReply> reply = Get(ConfigFor(server.port()), sink);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kExhausted);
}

TEST(ApiClient, ARefusalCarriesItsBodyAndRetryAfter) {
  FakeHttpServer server([](FakePeer& peer, const std::string&) {
    return peer.Reply("429 Too Many Requests", "{\"kind\":\"Status\"}", "Retry-After: 7\r\n");
  });
  TextSink sink;
  Result<ApiReply> reply = Get(ConfigFor(server.port()), sink);
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(reply->status, 429);
  EXPECT_EQ(reply->refusal, "{\"kind\":\"Status\"}");
  EXPECT_EQ(reply->retry_after_ns, 7 * kNsPerSecond);
  EXPECT_EQ(sink.text, "") << "only what was asked for goes to the sink";
}

TEST(ApiClient, ARefusalsBodyIsBounded) {
  FakeHttpServer server([](FakePeer& peer, const std::string&) {
    return peer.Reply("500 Internal Server Error", std::string(1 << 20, 'x'));
  });
  TextSink sink;
  Result<ApiReply> reply = Get(ConfigFor(server.port()), sink);
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(reply->status, 500);
  EXPECT_EQ(reply->refusal.size(), kMaxRefusalBytes);
}

TEST(ApiClient, RedirectsAreNotFollowed) {
  FakeHttpServer server([](FakePeer& peer, const std::string&) {
    return peer.Reply("302 Found", "", "Location: http://127.0.0.1:1/\r\n");
  });
  TextSink sink;
  Result<ApiReply> reply = Get(ConfigFor(server.port()), sink);
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(reply->status, 302);
  EXPECT_EQ(server.connections(), 1);
}

TEST(ApiClient, UnauthorizedIsTriedOnceMoreWithTheTokenReadAgain) {
  const std::string path = ::testing::TempDir() + "/api-client-token";
  ASSERT_TRUE(WriteFileAtomic(path, "old"));
  std::vector<std::string> tokens;
  FakeHttpServer server([&](FakePeer& peer, const std::string& request) {
    const size_t at = request.find("Bearer ") + 7;
    tokens.push_back(request.substr(at, request.find('\r', at) - at));
    // The token rotates just now: the second try carries the new one.
    EXPECT_TRUE(WriteFileAtomic(path, "new"));
    return tokens.back() == "new" ? peer.Reply("200 OK", "{}")
                                  : peer.Reply("401 Unauthorized", "{}");
  });
  ClientConfig config = ConfigFor(server.port());
  config.token_file = path;
  TextSink sink;
  EXPECT_EQ(Get(config, sink)->status, 200);
  EXPECT_THAT(tokens, ::testing::ElementsAre("old", "new"));
}

TEST(ApiClient, UnauthorizedTwiceIsTheAnswer) {
  const std::string path = ::testing::TempDir() + "/api-client-token-2";
  ASSERT_TRUE(WriteFileAtomic(path, "bad"));
  int requests = 0;
  FakeHttpServer server([&](FakePeer& peer, const std::string&) {
    ++requests;
    return peer.Reply("401 Unauthorized", "{}");
  });
  ClientConfig config = ConfigFor(server.port());
  config.token_file = path;
  TextSink sink;
  EXPECT_EQ(Get(config, sink)->status, 401);
  EXPECT_EQ(requests, 2);
}

TEST(ApiClient, SaysThatNobodyListens) {
  uint16_t port = 0;
  {
    FakeHttpServer server([](FakePeer&, const std::string&) { return false; });
    port = server.port();
  }
  TextSink sink;
  Result<ApiReply> reply = Get(ConfigFor(port), sink);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(reply.error().message(), HasSubstr("refused"));
}

TEST(ApiClient, SaysThatAHostIsUnknown) {
  ClientConfig config = ConfigFor(1);
  config.server.host = "no..such.host";  // an empty label: no resolver needs to be asked
  TextSink sink;
  Result<ApiReply> reply = Get(config, sink);
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message(), HasSubstr("host 'no..such.host'"));
}

bool HasIpv6() { return !ReadFile("/proc/net/if_inet6").value_or("").empty(); }

TEST(ApiClient, SpeaksIpv6) {
  if (!HasIpv6()) GTEST_SKIP() << "this machine has no IPv6 loopback address";
  FakeHttpServer server(FakeHttpServer::Options{.ipv6 = true},
                        [](FakePeer& peer, const std::string& request) {
                          return peer.Reply("200 OK", request.substr(request.find("Host: "), 12));
                        });
  ClientConfig config = ConfigFor(server.port());
  config.server.host = "::1";
  TextSink sink;
  Result<ApiReply> reply = Get(config, sink);
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(sink.text, "Host: [::1]:");
}

class TlsApiClient : public ::testing::Test {
 protected:
  bool Answers(const ClientConfig& config) { return ErrorOf(config).empty(); }
  std::string ErrorOf(const ClientConfig& config) {
    TextSink sink;
    Result<ApiReply> reply = Get(config, sink);
    return reply ? "" : reply.error().message();
  }
  static bool Greet(FakePeer& peer, const std::string&) {
    return peer.Reply("200 OK", "hello " + peer.ClientName());
  }

  TestCertificate authority_ = MakeAuthority("authority");
  TestCertificate other_ = MakeAuthority("other");
  TestCertificate certificate_ =
      MakeCertificate(authority_, "api", "DNS:api.test,DNS:*.wild.test,IP:127.0.0.1,IP:::1");
};

TEST_F(TlsApiClient, TrustsOnlyTheGivenAuthority) {
  FakeHttpServer server({.certificate = &certificate_}, Greet);
  ClientConfig config = ConfigFor(server.port(), true);
  config.ca.data = authority_.certificate_pem;
  EXPECT_EQ(ErrorOf(config), "");
  config.ca.data = other_.certificate_pem;
  EXPECT_THAT(ErrorOf(config), HasSubstr("certificate is not trusted"));
  config.ca.data.clear();  // the system's
  EXPECT_FALSE(Answers(config));
  config.ca.data = "no pem";
  EXPECT_THAT(ErrorOf(config), HasSubstr("certificate authority is not a PEM"));
}

TEST_F(TlsApiClient, TakesABundleOfAuthorities) {
  FakeHttpServer server({.certificate = &certificate_}, Greet);
  ClientConfig config = ConfigFor(server.port(), true);
  config.ca.data = other_.certificate_pem + authority_.certificate_pem;
  EXPECT_TRUE(Answers(config));
}

TEST_F(TlsApiClient, ChecksTheServersName) {
  FakeHttpServer server({.certificate = &certificate_}, Greet);
  ClientConfig config = ConfigFor(server.port(), true);
  config.ca.data = authority_.certificate_pem;
  config.tls_server_name = "api.test";
  EXPECT_EQ(ErrorOf(config), "");
  config.tls_server_name = "a.wild.test";
  EXPECT_EQ(ErrorOf(config), "");
  for (const char* name : {"other.test", "api", "a.b.wild.test", "127.0.0.2"}) {
    config.tls_server_name = name;
    EXPECT_THAT(ErrorOf(config), HasSubstr("not trusted")) << name;
  }
  config.insecure_skip_tls_verify = true;
  config.ca.data.clear();
  EXPECT_TRUE(Answers(config));
}

TEST_F(TlsApiClient, AnAddressMustBeInTheCertificate) {
  const TestCertificate named = MakeCertificate(authority_, "127.0.0.1", "DNS:127.0.0.1");
  FakeHttpServer server({.certificate = &named}, Greet);
  ClientConfig config = ConfigFor(server.port(), true);
  config.ca.data = authority_.certificate_pem;
  EXPECT_THAT(ErrorOf(config), HasSubstr("not trusted"));
}

TEST_F(TlsApiClient, ChecksIpv6Addresses) {
  if (!HasIpv6()) GTEST_SKIP() << "this machine has no IPv6 loopback address";
  FakeHttpServer server({.ipv6 = true, .certificate = &certificate_}, Greet);
  ClientConfig config = ConfigFor(server.port(), true);
  config.server.host = "::1";
  config.ca.data = authority_.certificate_pem;
  EXPECT_EQ(ErrorOf(config), "");
}

TEST_F(TlsApiClient, PresentsItsCertificate) {
  FakeHttpServer server({.certificate = &certificate_, .client_authority = &authority_}, Greet);
  const TestCertificate mine = MakeCertificate(authority_, "robot", "");
  ClientConfig config = ConfigFor(server.port(), true);
  config.ca.data = authority_.certificate_pem;
  config.client_certificate.data = mine.certificate_pem;
  config.client_key.data = mine.key_pem;
  TextSink sink;
  Result<ApiReply> reply = Get(config, sink);
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(sink.text, "hello robot");
  config.client_key.data = authority_.key_pem;
  EXPECT_THAT(ErrorOf(config), HasSubstr("client key"));
}

TEST_F(TlsApiClient, OpensAPortOfAPodAsTheSamePerson) {
  std::string seen;
  FakeHttpServer server({.certificate = &certificate_, .client_authority = &authority_},
                        [&](FakePeer& peer, const std::string& request) {
                          seen = request;
                          FakePodPort port(peer, request);
                          port.Write("hello " + peer.ClientName());
                          peer.AwaitClose();
                          return false;
                        });
  const TestCertificate mine = MakeCertificate(authority_, "robot", "");
  ClientConfig config = ConfigFor(server.port(), true);
  config.ca.data = authority_.certificate_pem;
  config.client_certificate.data = mine.certificate_pem;
  config.client_key.data = mine.key_pem;
  ApiClient client(config, "x", Clock::System());
  EXPECT_EQ(client.BearerToken().value(), "secret");
  auto port = client.OpenPodPort({"firetower", "hub-1", 7080}, 20 * kNsPerSecond);
  ASSERT_TRUE(port) << port.error().message();
  char buffer[100];
  const Result<size_t> size = (*port)->Read(buffer, sizeof buffer, 20 * kNsPerSecond);
  ASSERT_TRUE(size) << size.error().message();
  EXPECT_EQ(std::string(buffer, *size), "hello robot");
  EXPECT_THAT(seen, AllOf(HasSubstr("GET /api/v1/namespaces/firetower/pods/hub-1/portforward?"),
                          HasSubstr("Authorization: Bearer secret\r\n")));
}

TEST_F(TlsApiClient, AChangedAuthorityCountsAtTheNextRequest) {
  const std::string path = ::testing::TempDir() + "/api-client-ca";
  ASSERT_TRUE(WriteFileAtomic(path, authority_.certificate_pem));
  FakeHttpServer server({.certificate = &certificate_}, Greet);
  ClientConfig config = ConfigFor(server.port(), true);
  config.ca.path = path;
  ApiClient client(config, "x", Clock::System());
  TextSink sink;
  EXPECT_TRUE(client.Send({.target = "/api"}, sink));
  ASSERT_TRUE(WriteFileAtomic(path, other_.certificate_pem));
  EXPECT_FALSE(client.Send({.target = "/api"}, sink));
  ASSERT_TRUE(WriteFileAtomic(path, other_.certificate_pem + authority_.certificate_pem));
  EXPECT_TRUE(client.Send({.target = "/api"}, sink));
  std::filesystem::remove(path);
  EXPECT_TRUE(client.Send({.target = "/api"}, sink)) << "the last bundle is as good as it was";
}

}  // namespace
}  // namespace firetower::k8s
