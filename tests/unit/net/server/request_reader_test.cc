// SPDX-License-Identifier: Apache-2.0
#include "net/server/request_reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace firetower::net {
namespace {

using State = RequestReader::State;

// Two chunks, a size in either case and with a leading zero, then the last one.
const std::string kChunked =
    "POST /x HTTP/1.1\r\nHost: x\r\ntransfer-ENCODING: Chunked\r\n\r\n"
    "5\r\nhello\r\n0A\r\n0123456789\r\n0\r\n\r\n";
const std::string kWithLength = "POST /x HTTP/1.1\r\ncontent-LENGTH: 5 \r\n\r\nhello";

// Returns what is left of `bytes` behind a request that is whole; "?" when it is not.
std::string RestOf(std::string bytes, std::string* body = nullptr) {
  RequestReader reader{RequestLimits()};
  if (reader.Feed(bytes) != State::kComplete) return "?";
  const ReadRequest request = reader.Take();
  if (body != nullptr) *body = request.http.body;
  return bytes;
}

// Returns the status of the refusal; 0 without one.
int StatusOf(std::string bytes, RequestLimits limits = {}) {
  RequestReader reader(limits);
  return reader.Feed(bytes) == State::kRefused ? reader.refused_status() : 0;
}

TEST(RequestReader, LeavesTheNextRequestAlone) {
  std::string body;
  EXPECT_EQ(RestOf("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /next"), "GET /next");
  EXPECT_EQ(RestOf(kWithLength + "GET /next", &body), "GET /next");
  EXPECT_EQ(body, "hello");
  EXPECT_EQ(RestOf(kChunked + "GET /next", &body), "GET /next");
  EXPECT_EQ(body, "hello0123456789");
}

TEST(RequestReader, WaitsOnEveryPrefixAndNeverDependsOnHowBytesArrived) {
  for (const std::string& request : {kWithLength, kChunked}) {
    for (size_t n = 0; n < request.size(); ++n) {
      RequestReader reader{RequestLimits()};
      std::string in = request.substr(0, n);
      EXPECT_EQ(reader.Feed(in), State::kNeedMore) << n;
      in += request.substr(n);
      EXPECT_EQ(reader.Feed(in), State::kComplete) << n;
      EXPECT_EQ(reader.Take().http.path, "/x");
      EXPECT_EQ(in, "");
    }
    RequestReader reader{RequestLimits()};
    std::string in;
    for (size_t i = 0; i + 1 < request.size(); ++i) {
      in += request[i];
      EXPECT_EQ(reader.Feed(in), State::kNeedMore) << i;
    }
    in += request.back();
    EXPECT_EQ(reader.Feed(in), State::kComplete);
  }
}

TEST(RequestReader, ReadsWhatAHandlerSees) {
  RequestReader reader{RequestLimits()};
  std::string in =
      "GET /a%20b?x=1&x=%7B%7D HTTP/1.0\r\nHost: h:1\r\nAccept: text/html\r\nAccept-Encoding: "
      "gzip\r\n"
      "Authorization: Bearer t\r\nContent-Type: no\r\nContent-Length: 2\r\n\r\nno";
  ASSERT_EQ(reader.Feed(in), State::kComplete);
  const ReadRequest request = reader.Take();
  EXPECT_EQ(request.http.method, "GET");
  EXPECT_EQ(request.http.path, "/a b");
  EXPECT_EQ(request.http.params, (NamedValues{{"x", "1"}, {"x", "{}"}}));
  EXPECT_EQ(request.http.host, "h:1");
  EXPECT_EQ(request.http.accept, "text/html");
  EXPECT_EQ(request.http.authorization, "Bearer t");
  EXPECT_EQ(request.http.body + request.http.content_type + request.http.accept_encoding, "");
  EXPECT_EQ(request.accept_encoding, "gzip");
  EXPECT_TRUE(request.is_http10);
  EXPECT_FALSE(request.keep_alive);
}

TEST(RequestReader, RefusesRequestsThatServersReadDifferently) {
  struct Row {
    const char* request;
    int status;
  } rows[] = {
      {"GET / HTTP/1.1\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nA: b\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 411},
      {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 411},
      {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", 413},
      // RFC 9112 §6.1: chunks in HTTP/1.0 are faulty framing, whatever else is there.
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400},
      {"POST / HTTP/0.9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST /\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"GET x HTTP/1.1\r\n\r\n", 400},
      {"GET http://x/ HTTP/1.1\r\n\r\n", 400},
  };
  for (const Row& row : rows) EXPECT_EQ(StatusOf(row.request), row.status) << row.request;
  EXPECT_EQ(StatusOf(std::string("GET /\0 HTTP/1.1\r\n\r\n", 19)), 400);
  EXPECT_EQ(StatusOf(std::string("GET / HTTP/1.1\r\nA: \0\r\n\r\n", 23)), 400);
}

TEST(RequestReader, RefusesMalformedChunks) {
  const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* text :
       {"x\r\n", "-1\r\n", "+1\r\na\r\n", " 1\r\na\r\n", "0x1\r\na\r\n\r\n", "1\r\nab\r\n0\r\n\r\n",
        "1\r\na\n\r\n0\r\n\r\n", "fffffffffffffffff\r\na\r\n"}) {
    EXPECT_EQ(StatusOf(head + text), 400) << text;
  }
}

TEST(RequestReader, IgnoresTrailersAndExtensions) {
  RequestReader reader{RequestLimits()};
  std::string in =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b\r\na\r\n0\r\n"
      "Authorization: Bearer t\r\nContent-Length: 7\r\n\r\n";
  const State state = reader.Feed(in);
  if (state == State::kRefused) return;
  ASSERT_EQ(state, State::kComplete);
  const ReadRequest request = reader.Take();
  EXPECT_EQ(request.http.authorization, "");
  EXPECT_EQ(request.http.body, "a");
  EXPECT_EQ(in, "");
}

TEST(RequestReader, RefusesALongHeadBeforeItsEndArrives) {
  const std::string head = "GET / HTTP/1.1\r\nX: " + std::string(16 << 10, 'a');
  EXPECT_EQ(StatusOf(head), 431);
  EXPECT_EQ(StatusOf(head + "\r\n\r\n"), 431);
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 4000; ++i) many += "A: b\r\n";
  EXPECT_EQ(StatusOf(many), 431);
  EXPECT_EQ(StatusOf(many + "\r\n"), 431);
}

TEST(RequestReader, BoundsBodiesInChunks) {
  const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(StatusOf(head + "5\r\nhello\r\n", {.body_bytes = 5}), 0);
  EXPECT_EQ(StatusOf(head + "6\r\nhello!\r\n", {.body_bytes = 5}), 413);
  EXPECT_EQ(StatusOf(head + "5\r\nhello\r\n1\r\n!\r\n", {.body_bytes = 5}), 413);
  EXPECT_EQ(StatusOf(head + "fffffff\r\n" + std::string(20'000, 'x'), {.body_bytes = 5}), 413);
  // A line that never ends.
  EXPECT_EQ(StatusOf(head + "1;" + std::string(20'000, 'x')), 400);
  EXPECT_EQ(StatusOf(head + "0\r\nA: " + std::string(20'000, 'x')), 400);
}

RequestLimits WithFiles() {
  RequestLimits limits{.body_bytes = 5};
  limits.large = std::make_shared<LargeBodies>(
      LargeBodies{.path = "/file", .each_bytes = 10, .all_bytes = 15});
  return limits;
}

std::string File(const std::string& path, size_t size) {
  return "POST " + path + " HTTP/1.1\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
         std::string(size, 'x');
}

TEST(RequestReader, OnePathMayHaveLargerBodies) {
  const RequestLimits limits = WithFiles();
  EXPECT_EQ(StatusOf(File("/file", 10), limits), 0);
  EXPECT_EQ(StatusOf(File("/file?name=a", 10), limits), 0);
  EXPECT_EQ(StatusOf(File("/file", 11), limits), 413);
  EXPECT_EQ(StatusOf(File("/other", 6), limits), 413);
  EXPECT_EQ(StatusOf(File("/other", 5), limits), 0);
  const std::string chunked =
      " HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello!\r\n0\r\n\r\n";
  EXPECT_EQ(StatusOf("POST /file" + chunked, limits), 411);
  EXPECT_EQ(StatusOf("POST /other" + chunked, limits), 413);
  EXPECT_EQ(limits.large->held_bytes, 0u);
}

TEST(RequestReader, LargerBodiesAreBoundedTogetherAndGivenBack) {
  const RequestLimits limits = WithFiles();
  RequestReader first(limits);
  std::string in = File("/file", 9);
  EXPECT_EQ(first.Feed(in), State::kComplete);
  EXPECT_EQ(StatusOf(File("/file", 9), limits), 503);
  EXPECT_EQ(StatusOf(File("/file", 6), limits), 0);
  EXPECT_EQ(first.Take().http.body.size(), 9u);
  // Whoever has the body may still hold it: it counts until the connection has another request.
  EXPECT_EQ(limits.large->held_bytes, 9u);
  in = "GET / HTTP/1.1\r\n\r\n";
  EXPECT_EQ(first.Feed(in), State::kComplete);
  EXPECT_EQ(limits.large->held_bytes, 0u);
  {
    RequestReader gone(limits);
    in = File("/file", 9).substr(0, 50);
    EXPECT_EQ(gone.Feed(in), State::kNeedMore);
    EXPECT_EQ(limits.large->held_bytes, 9u);
  }
  EXPECT_EQ(limits.large->held_bytes, 0u);
}

}  // namespace
}  // namespace firetower::net
