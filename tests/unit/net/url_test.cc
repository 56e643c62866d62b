// SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include <gtest/gtest.h>

namespace firetower::net {
namespace {

TEST(DecodeQuery, KeepsAnUnencodedSelectorWhole) {
  auto params = DecodeQuery("q={namespace=\"a\",pod!=\"b\"}&k=5");
  ASSERT_TRUE(params);
  EXPECT_EQ(*params, (NamedValues{{"q", "{namespace=\"a\",pod!=\"b\"}"}, {"k", "5"}}));
}

TEST(DecodeQuery, ReadsEscapesPlusAndEmptyParts) {
  auto params = DecodeQuery("a=1+2%2B3&&b&c=&%41=%c3%bc");
  ASSERT_TRUE(params);
  EXPECT_EQ(*params, (NamedValues{{"a", "1 2+3"}, {"b", ""}, {"c", ""}, {"A", "\u00fc"}}));
}

TEST(DecodeQuery, RefusesBrokenEscapesAndTooManyParameters) {
  for (const char* query : {"a=%", "a=%4", "a=%4g", "%zz=1"}) {
    EXPECT_FALSE(DecodeQuery(query)) << query;
  }
  std::string many;
  for (int i = 0; i < 65; ++i) many += "a&";
  EXPECT_FALSE(DecodeQuery(many));
}

TEST(EncodeQuery, RoundTripsEveryByte) {
  NamedValues params{{"q", "{a=\"b&c=d\"}"}, {"x y", ""}};
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  params.emplace_back("all", all);
  std::string encoded = EncodeQuery(params);
  ASSERT_EQ(encoded[0], '?');
  EXPECT_EQ(encoded.find_first_of(" \"{}\r\n"), std::string::npos);
  auto decoded = DecodeQuery(std::string_view(encoded).substr(1));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, params);
  EXPECT_EQ(EncodeQuery({}), "");
}

}  // namespace
}  // namespace firetower::net
