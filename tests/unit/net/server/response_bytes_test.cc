// SPDX-License-Identifier: Apache-2.0
#include "net/server/response_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace firetower::net {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Unpacks by zlib, which is not what packs.
std::string Unpack(std::string& packed) {
  std::string out(1 << 20, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);  // 16: of gzip alone
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

HttpResponse Text(size_t bytes, std::string type = "application/json") {
  HttpResponse response;
  response.content_type = std::move(type);
  response.body.assign(bytes, 'x');
  return response;
}

ReadRequest Asking(std::string accept_encoding) {
  ReadRequest request;
  request.http.method = "GET";
  request.accept_encoding = std::move(accept_encoding);
  return request;
}

TEST(EncodeResponse, WritesAHeadAndLeavesTheBodyApart) {
  const ResponseBytes bytes = EncodeResponse(Text(3), Asking(""), false);
  EXPECT_THAT(
      bytes.head,
      AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\r\n\r\n"),
            HasSubstr("Content-Type: application/json\r\n"), HasSubstr("Content-Length: 3\r\n"),
            HasSubstr("Cache-Control: no-store\r\n"),
            HasSubstr("X-Content-Type-Options: nosniff\r\n"), Not(HasSubstr("Connection"))));
  EXPECT_EQ(bytes.body, "xxx");
  EXPECT_FALSE(bytes.close);
}

TEST(EncodeResponse, SaysWhetherTheConnectionStays) {
  EXPECT_THAT(EncodeResponse(Text(3), Asking(""), true).head, HasSubstr("Connection: close\r\n"));
  ReadRequest old = Asking("");
  old.is_http10 = true;
  EXPECT_THAT(EncodeResponse(Text(3), old, false).head,
              AllOf(StartsWith("HTTP/1.0 200"), HasSubstr("Connection: keep-alive\r\n")));
}

TEST(EncodeResponse, PacksTextForPeersThatAcceptIt) {
  for (const char* accepted : {"gzip", "br, GZIP", "deflate,gzip;q=0.5", "gzip;q=1.0"}) {
    ResponseBytes bytes = EncodeResponse(Text(5000), Asking(accepted), false);
    EXPECT_THAT(bytes.head, HasSubstr("Content-Encoding: gzip\r\n")) << accepted;
    EXPECT_THAT(bytes.head,
                HasSubstr("Content-Length: " + std::to_string(bytes.body.size()) + "\r\n"));
    EXPECT_EQ(Unpack(bytes.body), std::string(5000, 'x'));
  }
}

TEST(EncodeResponse, LeavesOtherBodiesAsTheyAre) {
  for (const char* accepted : {"", "br", "gzip;q=0", "gzip; q=0.000", "xgzip", "*"}) {
    EXPECT_EQ(EncodeResponse(Text(5000), Asking(accepted), false).body.size(), 5000U) << accepted;
  }
  EXPECT_EQ(EncodeResponse(Text(100), Asking("gzip"), false).body.size(), 100U);
  EXPECT_EQ(
      EncodeResponse(Text(5000, "application/octet-stream"), Asking("gzip"), false).body.size(),
      5000U);
  HttpResponse packed = Text(5000);
  packed.headers.emplace_back("Content-Encoding", "gzip");
  EXPECT_EQ(EncodeResponse(std::move(packed), Asking("gzip"), false).body.size(), 5000U);
}

TEST(EncodeResponse, LeavesOutHeadersThatWouldBeginAnother) {
  HttpResponse response = Text(3);
  response.headers = {{"X-Good", "1"}, {"X-Bad", "1\r\nSet-Cookie: a"}, {"X-Worse\n", "1"}};
  EXPECT_THAT(
      EncodeResponse(std::move(response), Asking(""), false).head,
      AllOf(HasSubstr("X-Good: 1\r\n"), Not(HasSubstr("Set-Cookie")), Not(HasSubstr("X-Worse"))));
}

}  // namespace
}  // namespace firetower::net
