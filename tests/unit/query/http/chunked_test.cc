// SPDX-License-Identifier: Apache-2.0
#include "query/http/chunked.h"

#include <gtest/gtest.h>

#include <string>

#include "query/http/framing.h"

namespace firetower::query {
namespace {

using State = ChunkedBody::State;

// Two chunks, a size in either case and with a leading zero, then the last one.
constexpr std::string_view kWhole = "5\r\nhello\r\n0A\r\n0123456789\r\n0\r\n\r\n";

TEST(ChunkedBody, EndsBehindTheChunkThatIsEmpty) {
  const ChunkedBody body = FrameChunks(std::string(kWhole) + "GET /next", 1000);
  EXPECT_EQ(body.state, State::kComplete);
  EXPECT_EQ(body.bytes, kWhole.size());
  EXPECT_EQ(JoinChunks(kWhole), "hello0123456789");
  EXPECT_EQ(JoinChunks("0\r\n\r\n"), "");
}

TEST(ChunkedBody, OfEveryPrefixItWaitsForMoreThanThereIs) {
  for (size_t n = 0; n < kWhole.size(); ++n) {
    const ChunkedBody body = FrameChunks(kWhole.substr(0, n), 1000);
    EXPECT_EQ(body.state, State::kNeedMore) << n;
    EXPECT_GT(body.bytes, n);
    EXPECT_LE(body.bytes, kWhole.size()) << n;
  }
}

TEST(ChunkedBody, RefusesWhatReadersDisagreeAbout) {
  for (const char* text : {"\r\n", "x\r\n", "-1\r\n", "+1\r\na\r\n", " 1\r\na\r\n", "1 \r\na\r\n",
                           "0x1\r\na\r\n", "1\na\n", "1\r\nab\r\n", "1\r\na\n\r\n",
                           "1;a=b\r\na\r\n", "000000001\r\na\r\n", "0\r\nTrailer: x\r\n\r\n"}) {
    EXPECT_EQ(FrameChunks(text, 1000).state, State::kMalformed) << text;
  }
}

TEST(ChunkedBody, IsBounded) {
  EXPECT_EQ(FrameChunks("ffffffff\r\n", 1 << 20).state, State::kTooLarge);
  EXPECT_EQ(FrameChunks(kWhole, kWhole.size()).state, State::kComplete);
  EXPECT_EQ(FrameChunks(kWhole, kWhole.size() - 1).state, State::kTooLarge);
  std::string many;
  for (size_t i = 0; i < kMaxChunks; ++i) many += "1\r\nx\r\n";
  EXPECT_EQ(FrameChunks(many + "0\r\n\r\n", 1 << 20).state, State::kComplete);
  EXPECT_EQ(FrameChunks(many + "1\r\nx\r\n0\r\n\r\n", 1 << 20).state, State::kTooLarge);
}

TEST(ChunkedBody, IsPartOfTheRequest) {
  const std::string head = "POST / HTTP/1.1\r\ntransfer-ENCODING: Chunked\r\n\r\n";
  const std::string request = head + std::string(kWhole);
  for (size_t n = 0; n < request.size(); ++n) {
    EXPECT_EQ(FrameRequest(request.substr(0, n), 0, FrameLimits()).state, Frame::State::kNeedMore);
  }
  const Frame frame = FrameRequest(request + "GET /next", 0, FrameLimits());
  EXPECT_EQ(frame.state, Frame::State::kComplete);
  EXPECT_EQ(frame.total_bytes, request.size());
  EXPECT_EQ(FrameRequest(head + "x", 0, FrameLimits()).status, 400);
  EXPECT_EQ(FrameRequest(head + "fffff\r\n", 0, FrameLimits()).status, 413);
}

}  // namespace
}  // namespace firetower::query
