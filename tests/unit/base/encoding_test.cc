// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/base64.h"
#include "base/text/hex.h"
#include "base/text/percent.h"
#include "base/text/url_options.h"

namespace firetower {
namespace {

// RFC 4648 §10.
TEST(Base64, AgreesWithTheRfc) {
  constexpr std::pair<std::string_view, std::string_view> kExamples[] = {{"", ""},
                                                                         {"f", "Zg=="},
                                                                         {"fo", "Zm8="},
                                                                         {"foo", "Zm9v"},
                                                                         {"foob", "Zm9vYg=="},
                                                                         {"fooba", "Zm9vYmE="},
                                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : kExamples) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    EXPECT_EQ(DecodeBase64(text), bytes);
  }
  EXPECT_EQ(DecodeBase64("Zm9v\n  YmFy\n"), "foobar");
  for (const std::string_view bad :
       {"Z", "Zg", "Zg=", "Zg===", "Zm9v=", "Z_==", "Zg==Zg==", "===="})
    EXPECT_FALSE(DecodeBase64(bad)) << bad;
}

TEST(Base64, KeepsEveryByte) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(DecodeBase64(EncodeBase64(all)), all);
}

TEST(Hex, KeepsEveryByte) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(FromHex(ToHex(all)), all);
  EXPECT_EQ(ToHex(std::string_view("\x00\x7f\xe9", 3)), "007fe9");
}

TEST(Hex, RefusesWhatIsNone) {
  for (const std::string_view bad : {"0", "0g", "AB", "0x", " 0"})
    EXPECT_FALSE(FromHex(bad)) << bad;
  EXPECT_EQ(FromHex(""), "");
}

TEST(Percent, DecodesEveryByte) {
  std::string all, encoded;
  for (int c = 0; c < 256; ++c) {
    const std::string byte(1, static_cast<char>(c));
    all += byte;
    encoded += '%' + ToHex(byte);
  }
  EXPECT_EQ(DecodePercent(encoded), all);
  EXPECT_EQ(DecodePercent("a+b%2b%2B"), "a+b++");
  EXPECT_EQ(DecodePercent("a+b%2B", true), "a b+");
  EXPECT_EQ(DecodePercent(""), "");
  for (const char* bad : {"%", "%4", "%g1", "%1g", "a%"}) EXPECT_FALSE(DecodePercent(bad)) << bad;
}

TEST(UrlOptions, AreNamesAndDecodedValuesInTheirOrder) {
  const auto options = ParseUrlOptions("proxy=none&ca-file=%2fetc%2Fca+1.pem&tenant=a=b&");
  ASSERT_TRUE(options) << options.error().message();
  ASSERT_EQ(options->size(), 3u);
  EXPECT_EQ((*options)[0].name, "proxy");
  EXPECT_EQ((*options)[0].value, "none");
  EXPECT_EQ((*options)[1].name, "ca-file");
  EXPECT_EQ((*options)[1].value, "/etc/ca+1.pem");
  EXPECT_EQ((*options)[2].value, "a=b");
  EXPECT_TRUE(ParseUrlOptions("")->empty());
}

TEST(UrlOptions, SayWhatIsWrongAndRepeatNoValue) {
  const std::pair<const char*, const char*> cases[] = {
      {"hunter2", "NAME=VALUE"},
      {"=hunter2", "NAME=VALUE"},
      {"a=1&&b=hunter2", "NAME=VALUE"},
      {"token=", "token: is empty"},
      {"token=hunter2&a=1&token=hunter2", "token: is given twice"},
      {"token=hunter2%zz", "token: has a bad %"},
      {"token=hunter2%0a", "token: holds a byte that is not printable"},
      {"token=hunter2%c3%a4", "token: holds a byte that is not printable"}};
  for (const auto& [query, part] : cases) {
    const auto options = ParseUrlOptions(query);
    ASSERT_FALSE(options) << query;
    EXPECT_EQ(options.error().code(), ErrorCode::kInvalid) << query;
    EXPECT_THAT(options.error().message(),
                ::testing::AllOf(::testing::HasSubstr(part),
                                 ::testing::Not(::testing::HasSubstr("hunter2"))));
  }
}

}  // namespace
}  // namespace firetower
