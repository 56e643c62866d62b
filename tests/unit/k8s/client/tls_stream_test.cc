// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/tls_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "net/server/http_server.h"
#include "tests/unit/net/server/served_certificate.h"

namespace firetower::k8s {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A socket that gives three bytes at a time, as a pod's port may.
class Socket final : public ByteStream {
 public:
  explicit Socket(UniqueFd fd) : fd_(std::move(fd)) {}
  Result<size_t> Read(char* out, size_t size, int64_t) override {
    const ssize_t n = ::recv(fd_.get(), out, std::min<size_t>(size, 3), 0);
    if (n < 0) return ErrnoError("recv", errno);
    return static_cast<size_t>(n);
  }
  Status Write(std::string_view data, int64_t) override {
    while (!data.empty()) {
      const ssize_t n = ::send(fd_.get(), data.data(), data.size(), MSG_NOSIGNAL);
      if (n <= 0) return ErrnoError("send", errno);
      data.remove_prefix(static_cast<size_t>(n));
    }
    return OkStatus();
  }

 private:
  UniqueFd fd_;
};

UniqueFd ConnectTo(const std::string& address) {
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(static_cast<uint16_t>(std::stoul(address.substr(address.rfind(':') + 1))));
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&peer), sizeof(peer)), 0);
  return fd;
}

TEST(TlsStream, CarriesBytesToAServerWithTls) {
  const net::ServedCertificate certificate("hub");
  net::HttpServerOptions options;
  options.listen = "127.0.0.1:0";
  options.tls = certificate.files();
  auto server = net::HttpServer::Start(options, [](const net::HttpRequest& request) {
    net::HttpResponse response;
    response.content_type = "application/octet-stream";
    response.body = std::string(100'000, 'x') + request.body;
    return response;
  });
  ASSERT_TRUE(server) << server.error().message();
  auto stream =
      OpenTlsStream(std::make_unique<Socket>(ConnectTo((*server)->address())), kNsPerSecond);
  ASSERT_TRUE(stream) << stream.error().message();
  const std::string body(100'000, 'y');
  ASSERT_TRUE(
      (*stream)->Write("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                       "Content-Length: 100000\r\n\r\n" +
                           body,
                       kNsPerSecond));
  std::string answer;
  for (;;) {
    char buffer[1000];
    const Result<size_t> size = (*stream)->Read(buffer, sizeof(buffer), kNsPerSecond);
    ASSERT_TRUE(size) << size.error().message();
    if (*size == 0) break;
    answer.append(buffer, *size);
  }
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(answer.ends_with(std::string(100'000, 'x') + body));
}

TEST(TlsStream, FailsWhereThePeerSpeaksNoTlsOrCloses) {
  net::HttpServerOptions options;
  options.listen = "127.0.0.1:0";
  auto server =
      net::HttpServer::Start(options, [](const net::HttpRequest&) { return net::HttpResponse(); });
  ASSERT_TRUE(server);
  const auto plain =
      OpenTlsStream(std::make_unique<Socket>(ConnectTo((*server)->address())), kNsPerSecond);
  ASSERT_FALSE(plain);
  EXPECT_THAT(plain.error().message(), HasSubstr("TLS with the pod fails"));
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd other(ends[1]);
  ::shutdown(other.get(), SHUT_WR);
  const auto closed = OpenTlsStream(std::make_unique<Socket>(UniqueFd(ends[0])), kNsPerSecond);
  ASSERT_FALSE(closed);
  EXPECT_THAT(closed.error().message(), HasSubstr("ends the TLS handshake"));
}

}  // namespace
}  // namespace firetower::k8s
