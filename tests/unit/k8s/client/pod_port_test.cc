// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/pod_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>

#include "base/clock.h"
#include "tests/support/k8s/fake_pod_port.h"

namespace firetower::k8s {
namespace {

using ::testing::HasSubstr;

// Peer that speaks piece by piece and records what it hears. A piece may be made of that.
class ScriptedStream : public net::ByteStream {
 public:
  using Piece = std::function<std::string(const std::string& told)>;

  explicit ScriptedStream(std::string& told) : told_(told) {}
  void Says(std::string bytes) {
    pieces.push_back([bytes](const std::string&) { return bytes; });
  }
  Result<size_t> Read(char* out, size_t size, int64_t) override {
    if (rest_.empty() && !pieces.empty()) {
      rest_ = pieces.front()(told_);
      pieces.pop_front();
    }
    const size_t taken = std::min(size, rest_.size());
    std::memcpy(out, rest_.data(), taken);
    rest_.erase(0, taken);
    return taken;
  }
  Status Write(std::string_view data, int64_t) override {
    told_ += data;
    return OkStatus();
  }

  int fd() const override { return -1; }

  std::deque<Piece> pieces;

 private:
  std::string& told_;
  std::string rest_;
};

class PodPortTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<PodPort>> Open() {
    net::Url server;
    server.host = "api.example";
    server.port = 6443;
    server.path = "/k8s/one";
    return PodPort::Open(std::move(stream_), server, "t0ken", {"firetower", "hub-1", 7080},
                         kNsPerSecond);
  }
  // All that comes, until the end.
  static std::string ReadAll(PodPort& port) {
    std::string all;
    char buffer[7];
    for (;;) {
      const Result<size_t> size = port.Read(buffer, sizeof buffer, kNsPerSecond);
      EXPECT_TRUE(size) << size.error().message();
      if (!size || *size == 0) return all;
      all.append(buffer, *size);
    }
  }

  std::string told_;
  std::unique_ptr<ScriptedStream> stream_ = std::make_unique<ScriptedStream>(told_);
};

const std::string kPort("\x88\x1b", 2);  // 7048; nobody looks

TEST_F(PodPortTest, AsksAsAWebSocketDoes) {
  stream_->pieces.push_back(AcceptPodPort);
  ASSERT_TRUE(Open());
  EXPECT_THAT(told_, HasSubstr("GET /k8s/one/api/v1/namespaces/firetower/pods/hub-1/portforward?"
                               "ports=7080 HTTP/1.1\r\nHost: api.example:6443\r\n"));
  EXPECT_THAT(told_, HasSubstr("\r\nAuthorization: Bearer t0ken\r\n"));
}

TEST_F(PodPortTest, GivesTheDataOfItsChannel) {
  stream_->pieces.push_back([](const std::string& told) {
    return AcceptPodPort(told) + PodPortMessage(0, kPort) + PodPortMessage(1, kPort) +
           PodPortMessage(0, "HTTP/1.1 ");
  });
  stream_->Says(PodPortMessage(0, "200 OK\r\n"));
  stream_->Says(std::string("\x88\x00", 2));
  const auto port = Open();
  ASSERT_TRUE(port) << port.error().message();
  EXPECT_EQ(ReadAll(**port), "HTTP/1.1 200 OK\r\n");
}

TEST_F(PodPortTest, WritesIntoItsChannel) {
  stream_->pieces.push_back(AcceptPodPort);
  const auto port = Open();
  ASSERT_TRUE(port);
  told_.clear();
  ASSERT_TRUE((*port)->Write(std::string(40'000, 'x'), kNsPerSecond));
  EXPECT_EQ(told_.size(), 40'000u + 2 * (1 + 8)) << "two frames, each with a byte for the channel";
}

TEST_F(PodPortTest, AnswersAPing) {
  stream_->pieces.push_back(AcceptPodPort);
  stream_->Says("\x89\x02hi" + PodPortMessage(0, kPort + "data"));
  const auto port = Open();
  told_.clear();
  EXPECT_EQ(ReadAll(**port), "data");
  ASSERT_EQ(told_.size(), 8u);
  EXPECT_EQ(told_[0], '\x8a');
}

TEST_F(PodPortTest, TellsWhatTheKubeletSays) {
  stream_->pieces.push_back(AcceptPodPort);
  stream_->Says(PodPortMessage(1, kPort) + PodPortMessage(1, "connection refused"));
  const auto port = Open();
  char buffer[10];
  const Result<size_t> read = (*port)->Read(buffer, sizeof buffer, kNsPerSecond);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(read.error().message(), HasSubstr("connection refused"));
}

TEST_F(PodPortTest, TellsWhatTheServerRefuses) {
  stream_->Says(
      "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n\r\n"
      R"({"kind":"Status","message":"pods \"hub-1\" is forbidden"})");
  const auto port = Open();
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().code(), ErrorCode::kPermission);
  EXPECT_THAT(port.error().message(), HasSubstr("pods \"hub-1\" is forbidden"));
}

TEST_F(PodPortTest, RefusesAnAnswerToSomebodyElse) {
  stream_->Says("HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: other\r\n\r\n");
  EXPECT_EQ(Open().error().code(), ErrorCode::kCorrupt);
}

TEST_F(PodPortTest, RefusesAHeadWithoutAnEnd) {
  for (int i = 0; i < 20; ++i) stream_->Says(std::string(4096, 'x'));
  EXPECT_EQ(Open().error().code(), ErrorCode::kCorrupt);
}

TEST_F(PodPortTest, RefusesASilentEnd) {
  EXPECT_EQ(Open().error().code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace firetower::k8s
