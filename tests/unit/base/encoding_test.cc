// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/text/base64.h"
#include "base/text/hex.h"

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

}  // namespace
}  // namespace firetower
