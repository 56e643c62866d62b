// SPDX-License-Identifier: Apache-2.0
#include "query/http/framing.h"

#include <gtest/gtest.h>

#include <string>

namespace firetower::query {
namespace {

using State = Frame::State;

Frame Whole(std::string_view bytes) { return FrameRequest(bytes, 0, FrameLimits()); }

TEST(FrameRequest, EndsAtTheEmptyLine) {
  std::string request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  Frame frame = Whole(request + "GET /next");
  EXPECT_EQ(frame.state, State::kComplete);
  EXPECT_EQ(frame.total_bytes, request.size());
}

TEST(FrameRequest, CountsTheBody) {
  std::string head = "POST / HTTP/1.1\r\ncontent-LENGTH: 5 \r\n\r\n";
  EXPECT_EQ(Whole(head + "1234").state, State::kNeedMore);
  EXPECT_EQ(Whole(head).total_bytes, head.size() + 5);
  Frame frame = Whole(head + "12345GET");
  EXPECT_EQ(frame.state, State::kComplete);
  EXPECT_EQ(frame.total_bytes, head.size() + 5);
}

TEST(FrameRequest, WaitsOnEveryPrefixAndNeverDependsOnHowBytesArrived) {
  std::string request = "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
  for (size_t n = 0; n < request.size(); ++n) {
    EXPECT_EQ(Whole(request.substr(0, n)).state, State::kNeedMore) << n;
  }
  size_t head_bytes = request.size() - 3;
  for (size_t scanned = 0; scanned < head_bytes; ++scanned) {
    Frame frame = FrameRequest(request, scanned, FrameLimits());
    EXPECT_EQ(frame.state, State::kComplete) << scanned;
    EXPECT_EQ(frame.total_bytes, request.size());
  }
}

TEST(FrameRequest, RefusesWhatReadersDisagreeAbout) {
  struct Row {
    const char* request;
    int status;
  } rows[] = {
      {"GET / HTTP/1.1\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n", 411},
      {"GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 411},
      {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 411},
      {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 411},
      {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", 413},
      // RFC 9112 §6.1: chunks in HTTP/1.0 are faulty framing, whatever else is there.
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400},
      {"POST / HTTP/0.9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST /\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
  };
  for (const Row& row : rows) {
    Frame frame = Whole(row.request);
    EXPECT_EQ(frame.state, State::kRefused) << row.request;
    EXPECT_EQ(frame.status, row.status) << row.request;
  }
  EXPECT_EQ(Whole(std::string("GET /\0 HTTP/1.1\r\n\r\n", 19)).status, 400);
}

TEST(FrameRequest, RefusesALongHeadBeforeItsEndArrives) {
  std::string head = "GET / HTTP/1.1\r\nX: " + std::string(16 << 10, 'a');
  EXPECT_EQ(Whole(head).status, 431);
  EXPECT_EQ(Whole(head + "\r\n\r\n").status, 431);
}

}  // namespace
}  // namespace firetower::query
