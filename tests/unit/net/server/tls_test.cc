// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "net/server/http_server.h"
#include "tests/unit/net/server/raw_client.h"
#include "tests/unit/net/server/served_certificate.h"

namespace firetower::net {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

HttpResponse Hello(const HttpRequest&) {
  HttpResponse response;
  response.body = "hello";
  return response;
}

// A server with TLS, whose certificate may be replaced.
class TlsTest : public ::testing::Test {
 protected:
  TlsTest() {
    options_.listen = "127.0.0.1:0";
    options_.tls = certificate_.files();
    options_.tls_look_ns = 20 * kNsPerMs;
    options_.on_certificate = [this](const TlsCertificateState& state) {
      const std::lock_guard lock(mutex_);
      state_ = state;
    };
  }
  void Start() {
    auto server = HttpServer::Start(options_, Hello);
    ASSERT_TRUE(server) << server.error().message();
    server_ = *std::move(server);
  }
  std::string url() const { return server_->url(); }
  // The same port without TLS, for bytes of the test's own.
  std::string plain_url() const { return "http://" + server_->address(); }
  TlsCertificateState state() {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  template <typename Holds>
  static bool Until(Holds holds) {
    for (int i = 0; i < 500 && !holds(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return holds();
  }

  ServedCertificate certificate_{"first"};
  HttpServerOptions options_;
  std::mutex mutex_;
  TlsCertificateState state_;
  std::unique_ptr<HttpServer> server_;
};

// Makes the bytes that a client sends first.
std::string ClientHello() {
  SSL_CTX* context = ::SSL_CTX_new(::TLS_client_method());
  SSL* session = ::SSL_new(context);
  BIO* out = ::BIO_new(::BIO_s_mem());
  ::SSL_set_bio(session, ::BIO_new(::BIO_s_mem()), out);
  ::SSL_connect(session);
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  std::string hello(data, static_cast<size_t>(size));
  ::SSL_free(session);
  ::SSL_CTX_free(context);
  return hello;
}

TEST_F(TlsTest, SpeaksTls13AndSaysSoInItsUrl) {
  Start();
  EXPECT_THAT(url(), StartsWith("https://127.0.0.1:"));
  RawClient client(url());
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.TlsVersion(), "TLSv1.3");
  EXPECT_EQ(client.ServerName(), "first");
  EXPECT_EQ(BodyOf(Fetch(url(), "/")), "hello");
  EXPECT_GT(state().not_after_seconds, Clock::System().WallNs() / kNsPerSecond);
}

TEST_F(TlsTest, RefusesVersionsBefore12) {
  Start();
  EXPECT_EQ(RawClient(url(), TLS1_2_VERSION).TlsVersion(), "TLSv1.2");
  EXPECT_FALSE(RawClient(url(), TLS1_1_VERSION).connected());
}

TEST_F(TlsTest, TellsAnHttpClientItsMistake) {
  Start();
  EXPECT_THAT(Fetch(plain_url(), "/"),
              AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("this port speaks TLS"),
                    HasSubstr("https://"), HasSubstr("Connection: close")));
  EXPECT_EQ(BodyOf(Fetch(url(), "/")), "hello");
}

TEST_F(TlsTest, AnswersOthersWhileHandshakesAreSilentOrSlow) {
  Start();
  std::vector<std::unique_ptr<RawClient>> peers;
  for (int i = 0; i < 60; ++i) {
    peers.push_back(std::make_unique<RawClient>(plain_url()));
    // Half of a record that says it has 512 bytes.
    if (i % 2 == 0) peers.back()->Send(std::string("\x16\x03\x01\x02\x00\x01", 6));
  }
  const int64_t begin_ns = Clock::System().MonotonicNs();
  EXPECT_EQ(BodyOf(Fetch(url(), "/")), "hello");
  EXPECT_LT(Clock::System().MonotonicNs() - begin_ns, 2 * kNsPerSecond);
}

TEST_F(TlsTest, EndsASlowHandshake) {
  options_.read_timeout_ns = 300 * kNsPerMs;
  Start();
  RawClient client(plain_url());
  const int64_t begin_ns = Clock::System().MonotonicNs();
  std::string hello("\x16\x03\x01\x02\x00", 5);
  hello.resize(300, '\x01');
  // A byte now and then must not renew the deadline.
  size_t sent = 0;
  while (sent < hello.size() && client.Send({&hello[sent], 1})) {
    ++sent;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const int64_t taken_ns = Clock::System().MonotonicNs() - begin_ns;
  EXPECT_LT(sent, hello.size());
  EXPECT_GE(taken_ns, 290 * kNsPerMs);
  EXPECT_LT(taken_ns, 3 * kNsPerSecond);
}

TEST_F(TlsTest, EndsASilentHandshake) {
  options_.idle_timeout_ns = 200 * kNsPerMs;
  Start();
  RawClient client(plain_url());
  const int64_t begin_ns = Clock::System().MonotonicNs();
  EXPECT_EQ(client.Receive(5000), "");
  EXPECT_LT(Clock::System().MonotonicNs() - begin_ns, 3 * kNsPerSecond);
}

TEST_F(TlsTest, MakesRoomForNewConnectionsByEndingHandshakes) {
  options_.max_connections = 4;
  options_.idle_timeout_ns = 60 * kNsPerSecond;
  options_.read_timeout_ns = 60 * kNsPerSecond;
  Start();
  std::vector<std::unique_ptr<RawClient>> peers;
  for (int i = 0; i < 8; ++i) {
    peers.push_back(std::make_unique<RawClient>(plain_url()));
    if (i % 2 == 0) peers.back()->Send(std::string("\x16\x03\x01\x02\x00\x01", 6));
  }
  EXPECT_EQ(BodyOf(Fetch(url(), "/")), "hello");
}

TEST_F(TlsTest, SurvivesHandshakesThatAreCutOrWrong) {
  options_.idle_timeout_ns = 200 * kNsPerMs;
  options_.read_timeout_ns = 200 * kNsPerMs;
  Start();
  const std::string hello = ClientHello();
  ASSERT_GT(hello.size(), 100u);
  for (size_t size = 0; size <= hello.size(); size += size < 64 ? 1 : 13) {
    RawClient client(plain_url());
    client.Send(hello.substr(0, size));
  }
  for (size_t at = 1; at < hello.size(); at += 7) {
    std::string wrong = hello;
    wrong[at] = static_cast<char>(wrong[at] ^ 0x55);
    RawClient client(plain_url());
    client.Send(wrong);
    client.Receive(1);
  }
  EXPECT_EQ(BodyOf(Fetch(url(), "/")), "hello");
}

TEST_F(TlsTest, TakesARenewedCertificateAndKeepsConnections) {
  Start();
  RawClient before(url());
  certificate_.Renew("second");
  EXPECT_TRUE(Until([&] { return RawClient(url()).ServerName() == "second"; }));
  ASSERT_TRUE(before.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(BodyOf(before.ReceiveOne()), "hello");
  EXPECT_EQ(state().refused, 0u);
}

TEST_F(TlsTest, KeepsTheOldCertificateWhereTheNewOneCannotBeUsed) {
  Start();
  const auto other = k8s::MakeCertificate(k8s::MakeAuthority("a"), "other", "IP:127.0.0.1");
  const auto text = [](const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  // The key of another certificate, a part of one, none.
  uint64_t refused = 0;
  for (const std::string& key :
       {text(certificate_.files().private_key), other.key_pem.substr(0, other.key_pem.size() / 2),
        std::string()}) {
    certificate_.Replace(other.certificate_pem, key);
    ++refused;
    EXPECT_TRUE(Until([&] { return state().refused == refused; })) << key;
    EXPECT_EQ(RawClient(url()).ServerName(), "first");
  }
  certificate_.Replace("", other.key_pem);
  EXPECT_TRUE(Until([&] { return state().refused == refused + 1; }));
  EXPECT_EQ(RawClient(url()).ServerName(), "first");
  certificate_.Replace(other.certificate_pem, other.key_pem);
  EXPECT_TRUE(Until([&] { return RawClient(url()).ServerName() == "other"; }));
}

TEST_F(TlsTest, TakesBothFromOneFile) {
  const auto made = k8s::MakeCertificate(k8s::MakeAuthority("a"), "bundle", "IP:127.0.0.1");
  certificate_.Replace(made.key_pem + made.certificate_pem, "");
  options_.tls->private_key = options_.tls->certificate;
  Start();
  EXPECT_EQ(RawClient(url()).ServerName(), "bundle");
}

TEST_F(TlsTest, DoesNotStartWithoutACertificateAndNamesTheFile) {
  const auto message = [&](const std::string& certificate, const std::string& key) {
    certificate_.Replace(certificate, key);
    const auto server = HttpServer::Start(options_, Hello);
    return server ? std::string("started") : server.error().message();
  };
  const auto made = k8s::MakeCertificate(k8s::MakeAuthority("a"), "a", "IP:127.0.0.1");
  const auto other = k8s::MakeCertificate(k8s::MakeAuthority("b"), "b", "IP:127.0.0.1");
  EXPECT_EQ(message(made.certificate_pem, made.key_pem), "started");
  EXPECT_THAT(message("none", made.key_pem),
              AllOf(HasSubstr("tls-cert-file"), HasSubstr(options_.tls->certificate),
                    HasSubstr("no certificate")));
  EXPECT_THAT(message(made.certificate_pem, other.key_pem),
              AllOf(HasSubstr("tls-private-key-file"), HasSubstr("no key of the certificate")));
  for (size_t size = 0; size < made.certificate_pem.size() - 1; size += 31) {
    EXPECT_THAT(message(made.certificate_pem.substr(0, size), made.key_pem),
                HasSubstr("tls-cert-file"));
  }
  for (size_t size = 0; size < made.key_pem.size() - 1; size += 31) {
    EXPECT_THAT(message(made.certificate_pem, made.key_pem.substr(0, size)),
                HasSubstr("tls-private-key-file"));
  }
  options_.tls->private_key = "/no/such/key";
  EXPECT_THAT(message(made.certificate_pem, ""), HasSubstr("/no/such/key"));
}

}  // namespace
}  // namespace firetower::net
