// SPDX-License-Identifier: Apache-2.0
#include "daemon/push/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/support/command.h"

namespace firetower::daemon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PushCredentials : public ::testing::Test {
 protected:
  std::string File(const std::string& text) {
    const std::string path = folder_.path() + "/secret";
    EXPECT_TRUE(WriteFileAtomic(path, text, 0600));
    return path;
  }
  static std::string HeadersOf(const PushTarget& target) {
    const auto headers = ReadCredentials(target);
    if (!headers) return "error " + headers.error().message();
    std::string all;
    for (const net::NamedValue& header : *headers)
      all += header.first + ": " + header.second + "\n";
    return all;
  }

  testing::ScratchFolder folder_;
};

TEST_F(PushCredentials, AreATenantAndATokenOrAPassword) {
  EXPECT_EQ(HeadersOf({}), "");
  EXPECT_EQ(HeadersOf({.tenant = "team-a", .token_file = File("abc.def\n")}),
            "X-Scope-OrgID: team-a\nAuthorization: Bearer abc.def\n");
  // RFC 7617's own example.
  EXPECT_EQ(HeadersOf({.basic_auth_file = File("Aladdin:open sesame")}),
            "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\n");
}

TEST_F(PushCredentials, AreReadAnewEachTime) {
  const PushTarget target{.token_file = File("old")};
  EXPECT_EQ(HeadersOf(target), "Authorization: Bearer old\n");
  File("new");
  EXPECT_EQ(HeadersOf(target), "Authorization: Bearer new\n");
}

TEST_F(PushCredentials, WhatIsNoHeaderIsRefusedAndNotShown) {
  for (const char* text : {"", "\n", "hunter2\r\nX-Other: b", "hunter2\x01", "hunter2\xff"}) {
    EXPECT_THAT(HeadersOf({.token_file = File(text)}),
                AllOf(HasSubstr("error"), HasSubstr("/secret"), Not(HasSubstr("hunter2"))));
  }
  EXPECT_THAT(HeadersOf({.basic_auth_file = File("hunter2")}),
              AllOf(HasSubstr("user:password"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(HeadersOf({.token_file = folder_.path() + "/none"}), HasSubstr("/none"));
}

}  // namespace
}  // namespace firetower::daemon
