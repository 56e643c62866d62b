// SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include <gtest/gtest.h>

namespace firetower::net {
namespace {

TEST(Url, IsReadAndWritten) {
  const Url url = ParseUrl("https://[fd00::1]:6443/k8s/a%20b/").value();
  EXPECT_EQ(url.host, "fd00::1");
  EXPECT_EQ(url.Authority(), "[fd00::1]:6443");
  EXPECT_EQ(url.path, "/k8s/a%20b");
  EXPECT_EQ(url.Text(), "https://[fd00::1]:6443/k8s/a%20b");
  EXPECT_EQ(ParseUrl("http://a")->Text(), "http://a:80");
  EXPECT_EQ(ParseUrl("http://a", {.http = 7070})->port, 7070);
}

TEST(Url, KnowsThisMachine) {
  for (const char* text : {"http://localhost", "http://127.1.2.3:1", "https://[::1]:1"})
    EXPECT_TRUE(ParseUrl(text)->IsLoopback()) << text;
  for (const char* text : {"http://127.0.0.1.test", "http://10.0.0.1", "https://[fd00::1]"})
    EXPECT_FALSE(ParseUrl(text)->IsLoopback()) << text;
}

TEST(Url, SaysWhatIsWrongAndNoPassword) {
  for (const char* text :
       {"", "a", "ftp://a", "http://", "http:///a", "http://a:0", "http://a:70000", "http://a:x",
        "http://u:hunter2@a", "http://a/?hunter2", "http://a/#hunter2", "http://a b",
        "http://a%2eb", "http://[::1", "http://[1.2.3.4]", "http://::1", "http://a\n"}) {
    const Result<Url> url = ParseUrl(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code(), ErrorCode::kInvalid) << text;
    EXPECT_EQ(url.error().message().find("hunter2"), std::string::npos) << text;
  }
}

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
