// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/websocket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::k8s {
namespace {

using ::testing::ElementsAre;

constexpr WebSocketOpcode kBinary = WebSocketOpcode::kBinary;

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

// A server's frame, of less than 126 bytes.
std::string ServerFrame(int head, const std::string& payload) {
  return Bytes({head, static_cast<int>(payload.size())}) + payload;
}

std::vector<std::string> Payloads(WebSocketReader& reader) {
  std::vector<std::string> payloads;
  for (;;) {
    const Result<std::optional<WebSocketMessage>> next = reader.Next();
    EXPECT_TRUE(next) << next.error().message();
    if (!next || !*next) return payloads;
    payloads.push_back((*next)->payload);
  }
}

// RFC 6455 §1.3 and §5.7 have these.
TEST(WebSocket, AnswersAKeyAsTheStandardsExample) {
  EXPECT_EQ(WebSocketAccept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocket, MasksAsTheStandardsExample) {
  EXPECT_EQ(WebSocketFrame(WebSocketOpcode::kText, "Hello", 0x37fa213d),
            Bytes({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}));
}

TEST(WebSocket, ReadsTheStandardsExamples) {
  WebSocketReader reader;
  reader.Feed(Bytes({0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f}));
  reader.Feed(Bytes({0x01, 0x03, 0x48, 0x65, 0x6c}));
  reader.Feed(Bytes({0x80, 0x02, 0x6c, 0x6f}));
  reader.Feed(Bytes({0x82, 0x7e, 0x01, 0x00}) + std::string(256, 'x'));
  reader.Feed(Bytes({0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0}) + std::string(65536, 'y'));
  EXPECT_THAT(Payloads(reader),
              ElementsAre("Hello", "Hello", std::string(256, 'x'), std::string(65536, 'y')));
}

TEST(WebSocket, WritesEveryLengthAsItIsRead) {
  for (const size_t size : {0u, 1u, 125u, 126u, 65535u, 65536u, 100'000u}) {
    const std::string payload(size, 'p');
    std::string frame = WebSocketFrame(kBinary, payload, 0);
    // Without the mask, which only clients have.
    const size_t head = size < 126 ? 2 : size <= 65535 ? 4 : 10;
    frame[1] = static_cast<char>(frame[1] & 0x7f);
    frame.erase(head, 4);
    WebSocketReader reader;
    reader.Feed(frame);
    EXPECT_THAT(Payloads(reader), ElementsAre(payload)) << size;
  }
}

TEST(WebSocket, ReadsByteByByte) {
  WebSocketReader reader;
  const std::string frames =
      ServerFrame(0x02, "one ") + ServerFrame(0x80, "two") + ServerFrame(0x82, "three");
  std::vector<std::string> payloads;
  for (const char byte : frames) {
    reader.Feed(std::string(1, byte));
    for (std::string& payload : Payloads(reader)) payloads.push_back(std::move(payload));
  }
  EXPECT_THAT(payloads, ElementsAre("one two", "three"));
}

TEST(WebSocket, GivesControlFramesBetweenFragments) {
  WebSocketReader reader;
  reader.Feed(ServerFrame(0x02, "a") + ServerFrame(0x89, "ping") + ServerFrame(0x80, "b"));
  EXPECT_THAT(Payloads(reader), ElementsAre("ping", "ab"));
}

TEST(WebSocket, RefusesWhatBreaksTheRules) {
  const std::string broken[] = {
      ServerFrame(0xc2, "reserved bit"),
      ServerFrame(0x83, "unknown opcode"),
      Bytes({0x82, 0x81, 1, 2, 3, 4, 5}),  // masked
      ServerFrame(0x09, "a ping in parts"),
      Bytes({0x89, 0x7e, 0, 126}),
      ServerFrame(0x80, "a fragment of nothing"),
      ServerFrame(0x02, "a") + ServerFrame(0x82, "a message within another")};
  for (const std::string& bytes : broken) {
    WebSocketReader reader;
    reader.Feed(bytes);
    const Result<std::optional<WebSocketMessage>> next = reader.Next();
    ASSERT_FALSE(next) << bytes;
    EXPECT_EQ(next.error().code(), ErrorCode::kCorrupt);
  }
}

TEST(WebSocket, RefusesWhatIsTooLong) {
  WebSocketReader reader;
  reader.Feed(Bytes({0x82, 0x7f, 0x7f, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(reader.Next().error().code(), ErrorCode::kExhausted);
  WebSocketReader parts;
  const std::string part = Bytes({0x00, 0x7e, 0xff, 0xff}) + std::string(0xffff, 'x');
  parts.Feed(ServerFrame(0x02, "x"));
  Result<std::optional<WebSocketMessage>> next = parts.Next();
  for (int i = 0; i < 100 && next; ++i) {
    parts.Feed(part);
    next = parts.Next();
  }
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code(), ErrorCode::kExhausted);
}

}  // namespace
}  // namespace firetower::k8s
