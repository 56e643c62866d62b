// SPDX-License-Identifier: Apache-2.0
// Tests the file itself; tests/e2e/web tests it in a browser.
#include "profile/flame/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "profile/flame/page_parts.h"
#include "tests/support/command.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::HaveCommand;
using ::firetower::testing::RunCommand;
using ::firetower::testing::ScratchFolder;
using ::firetower::testing::StackBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Returns the text between the two. The first one must occur exactly once.
std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  EXPECT_EQ(Count(text, begin), 1u) << begin;
  size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

TEST(EncodeFlameHtml, NamesCannotLeaveTheirPlace) {
  const std::string evil = "</script><script>alert(1)</script><!--";
  auto html = EncodeFlameHtml(StackBuilder().Add({"main", evil, "{{script}}"}, 1).Build(),
                              {.title = "<img src=x onerror=alert(2)>{{data}}"});
  ASSERT_TRUE(html);
  EXPECT_THAT(*html, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(*html, Not(HasSubstr("<img")));
  EXPECT_EQ(Count(*html, "<script"), 2u);
  EXPECT_EQ(Count(*html, "</script>"), 2u);
  const std::string data =
      Between(*html, "<script type=\"application/json\" id=\"data\">", "</script>");
  EXPECT_EQ(data.find_first_of("<>&"), std::string::npos);
  auto json = nlohmann::json::parse(data);
  EXPECT_EQ(json["names"][2], evil);
  EXPECT_EQ(json["names"][3], "{{script}}");
}

TEST(EncodeFlameHtml, ItsPolicyNamesItsOwnPartsByTheirHashes) {
  if (!HaveCommand("openssl")) GTEST_SKIP() << "no openssl on PATH";
  auto html = EncodeFlameHtml(StackBuilder().Add({"main"}, 1).Build());
  ASSERT_TRUE(html);
  const std::string policy =
      Between(*html, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(policy, Not(HasSubstr("connect-src")));
  ScratchFolder folder;
  for (const char* element : {"script", "style"}) {
    const std::string tag(element);
    ASSERT_TRUE(WriteFileAtomic(folder.path() + "/part",
                                Between(*html, "<" + tag + ">", "</" + tag + ">")));
    auto hash = RunCommand("openssl dgst -sha256 -binary " + folder.path() + "/part | base64 -w0");
    EXPECT_THAT(policy, HasSubstr(tag + "-src 'sha256-" + hash.output + "'"));
  }
}

TEST(EncodeFlameHtml, SaysWhatCannotBeDrawn) {
  EXPECT_EQ(EncodeFlameHtml(StackBuilder().Add({"main"}, -1).Build()).error().code(),
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace firetower::profile
