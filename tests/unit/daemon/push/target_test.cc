// SPDX-License-Identifier: Apache-2.0
#include "daemon/push/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Place {
  const char* text;
  PushKind kind;
  const char* name;
  const char* url;
};

TEST(PushTarget, TellsWhoIsAskedAndWhere) {
  const Place places[] = {
      {"pyroscope+http://pyroscope:4040", PushKind::kPyroscope, "pyroscope+http://pyroscope:4040",
       "http://pyroscope:4040/push.v1.PusherService/Push"},
      {"pyroscope+https://gateway/profiles/?timeout=5s", PushKind::kPyroscope,
       "pyroscope+https://gateway/profiles", "https://gateway/profiles/push.v1.PusherService/Push"},
      {"otlp+http://127.0.0.1:4318", PushKind::kOtlp, "otlp+http://127.0.0.1:4318",
       "http://127.0.0.1:4318/v1development/profiles"},
      {"otlp+http://[::1]:4318/", PushKind::kOtlp, "otlp+http://[::1]:4318",
       "http://[::1]:4318/v1development/profiles"},
      {"otlp+https://collector/otlp/profiles", PushKind::kOtlp,
       "otlp+https://collector/otlp/profiles", "https://collector/otlp/profiles"},
  };
  for (const Place& place : places) {
    const Result<PushTarget> target = ParsePushTarget(place.text);
    ASSERT_TRUE(target) << place.text << ": " << target.error().message();
    EXPECT_EQ(target->kind, place.kind) << place.text;
    EXPECT_EQ(target->name, place.name);
    EXPECT_EQ(target->url, place.url);
  }
}

TEST(PushTarget, TakesItsOptions) {
  const Result<PushTarget> target = ParsePushTarget(
      "pyroscope+https://host?tenant=team-a&token-file=/run/secrets/a%2Cb&ca-file=/etc/ca.pem"
      "&timeout=30s&proxy=none");
  ASSERT_TRUE(target) << target.error().message();
  EXPECT_EQ(target->tenant, "team-a");
  EXPECT_EQ(target->token_file, "/run/secrets/a,b");
  EXPECT_EQ(target->transport.ca_file, "/etc/ca.pem");
  EXPECT_EQ(target->timeout_seconds, 30);
  EXPECT_EQ(target->transport.proxy, "none");
  EXPECT_EQ(target->name, "pyroscope+https://host");
}

TEST(PushTarget, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"http://host:4040", "pyroscope+http://"},
      {"pyroscope://host", "pyroscope+http://"},
      {"pyroscope+http://", "HOST"},
      {"pyroscope+http:///path", "HOST"},
      {"otlp+http://ho st", "HOST"},
      {"otlp+http://host/pa\"th", "path"},
      {"otlp+http://host?token=abc", "token-file"},
      {"otlp+http://host?token-file=relative", "absolute"},
      {"otlp+http://host?token-file=", "empty"},
      {"otlp+http://host?timeout=0s", "1s to 60s"},
      {"otlp+http://host?timeout", "NAME=VALUE"},
      {"otlp+http://host?tenant=a%0d%0aX-Other:%20b", "printable"},
      {"otlp+http://host?tenant=a%zz", "bad %"},
      {"otlp+http://host?tenant=a/b", "tenant"},
      {"otlp+http://host?proxy=host:80", "proxy"},
      {"otlp+http://host?token-file=/a&basic-auth-file=/b", "one of them"},
  };
  for (const auto& [text, part] : cases) {
    const Result<PushTarget> target = ParsePushTarget(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().code(), ErrorCode::kInvalid) << text;
    EXPECT_THAT(target.error().message(), HasSubstr(part)) << text;
  }
}

TEST(PushTarget, NeverRepeatsAPassword) {
  for (const char* text : {"otlp+http://user:hunter2@host", "otlp+http://host?password=hunter2",
                           "otlp+http://host?token-file=hunter2"}) {
    const Result<PushTarget> target = ParsePushTarget(text);
    ASSERT_FALSE(target) << text;
    EXPECT_THAT(target.error().message(), Not(HasSubstr("hunter2")));
  }
}

TEST(PushTarget, AListHasEachOnceAndFourAtMost) {
  const Result<std::vector<std::string>> two =
      SplitPushUrls("otlp+http://a, pyroscope+http://a?tenant=x");
  ASSERT_TRUE(two) << two.error().message();
  EXPECT_THAT(*two, ElementsAre("otlp+http://a", "pyroscope+http://a?tenant=x"));
  EXPECT_THAT(*SplitPushUrls(""), IsEmpty());
  EXPECT_FALSE(SplitPushUrls("otlp+http://a,otlp+http://a/?tenant=x"));
  EXPECT_FALSE(SplitPushUrls("otlp+http://a,http://b"));
  EXPECT_TRUE(SplitPushUrls("otlp+http://a,otlp+http://b,otlp+http://c,otlp+http://d"));
  EXPECT_FALSE(
      SplitPushUrls("otlp+http://a,otlp+http://b,otlp+http://c,otlp+http://d,otlp+http://e"));
}

}  // namespace
}  // namespace firetower::daemon
