// SPDX-License-Identifier: Apache-2.0
#include "net/client/body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "store/s3/sign/digest.h"
#include "tests/support/http/body_text.h"

namespace firetower::store::s3 {
namespace {

using ::firetower::testing::TextOf;

// A text of its own, read piece by piece; it ends before its size when it is told so.
class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string text, size_t missing = 0)
      : text_(std::move(text)), missing_(missing) {}
  uint64_t size() const override { return text_.size() + missing_; }
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const override {
    if (offset + out.size() > text_.size()) return Error(ErrorCode::kCorrupt, "f: became shorter");
    std::ranges::copy(std::as_bytes(std::span(text_)).subspan(offset, out.size()), out.begin());
    return OkStatus();
  }

 private:
  std::string text_;
  size_t missing_;
};

std::string Text(size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 2654435761u >> 13);
  return text;
}

TEST(HttpBody, APartOfAPartIsWhereItShouldBe) {
  const std::string text = "0123456789";
  const TextSource source(text);
  for (const net::HttpBody& body : {net::HttpBody(text), net::HttpBody(source)}) {
    EXPECT_EQ(body.size(), 10u);
    EXPECT_EQ(TextOf(body), text);
    const net::HttpBody part = body.Part(2, 7).Part(1, 3);
    EXPECT_EQ(part.size(), 3u);
    EXPECT_EQ(TextOf(part), "345");
    EXPECT_TRUE(body.Part(10, 0).empty());
  }
  EXPECT_TRUE(net::HttpBody().empty());
}

TEST(HttpBody, DigestsOfASourceAreThoseOfItsBytes) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{128} << 10, (size_t{300} << 10) + 7}) {
    const std::string text = Text(bytes);
    const TextSource source(text);
    const net::HttpBody body(source);
    EXPECT_EQ(*BodySha256Hex(body), Sha256Hex(text)) << bytes;
    EXPECT_EQ(*BodyMd5Base64(body), Md5Base64(text)) << bytes;
    EXPECT_EQ(*BodyCrc32cBase64(body), Crc32cBase64(text)) << bytes;
  }
}

TEST(HttpBody, WhatCannotBeReadHasNoDigest) {
  const TextSource source(Text(200 << 10), 1);
  const Result<std::string> digest = BodySha256Hex(net::HttpBody(source));
  ASSERT_FALSE(digest);
  EXPECT_EQ(digest.error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(*BodySha256Hex(net::HttpBody(source).Part(0, 200 << 10)), Sha256Hex(Text(200 << 10)));
}

}  // namespace
}  // namespace firetower::store::s3
