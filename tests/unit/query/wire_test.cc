// SPDX-License-Identifier: Apache-2.0
#include "query/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::query {
namespace {

TEST(Wire, RoundTripsTopReplies) {
  TopReply reply;
  reply.by = "containers";
  reply.type = "cpu";
  reply.unit = "nanoseconds";
  reply.from_ms = 1;
  reply.to_ms = 2;
  reply.observed_seconds = 1.5;
  reply.total = int64_t{1} << 62;
  reply.skipped = 7;
  reply.containers.push_back({"ns", "p", "c", 12.5, 0.25, 3, 4, "f<\"x\">", "/bin/x", 50});
  auto back = TopReplyFromJson(ToJson(reply));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(ToJson(*back), ToJson(reply));
  EXPECT_EQ(back->total, int64_t{1} << 62);
  EXPECT_EQ(back->containers.at(0).hottest_function, "f<\"x\">");
  reply.by = "functions";
  reply.containers.clear();
  reply.functions.push_back({"f", "m", 1, 2.5, 3, 4.5, {"a/b/c"}});
  back = TopReplyFromJson(ToJson(reply));
  ASSERT_TRUE(back);
  EXPECT_EQ(ToJson(*back), ToJson(reply));
}

TEST(Wire, HostileNamesStayValidJson) {
  TopReply reply;
  reply.by = "functions";
  reply.functions.push_back({"\xff\x00\x1b[2J", "\xc3", 1, 1, 1, 1, {}});
  auto back = TopReplyFromJson(ToJson(reply));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_THAT(back->functions.at(0).function, ::testing::StartsWith("\uFFFD"));
}

TEST(Wire, NoPrefixOfAnAnswerIsAnAnswerAndNoneThrows) {
  DoctorReply reply;
  reply.checks.push_back({"kernel", CheckStatus::kFail, "too old", "update"});
  std::string json = ToJson(reply);
  for (size_t n = 0; n + 1 < json.size(); ++n) {
    EXPECT_FALSE(DoctorReplyFromJson(json.substr(0, n))) << n;
  }
  ASSERT_TRUE(DoctorReplyFromJson(json));
  for (const char* wrong : {"[]", "1", "null", "{}", R"({"by":1})", R"({"by":"x","rows":3})"}) {
    EXPECT_FALSE(TopReplyFromJson(wrong)) << wrong;
    EXPECT_FALSE(SeriesReplyFromJson(wrong)) << wrong;
    EXPECT_FALSE(LabelsReplyFromJson(wrong)) << wrong;
    EXPECT_FALSE(TypesReplyFromJson(wrong)) << wrong;
  }
  EXPECT_EQ(ErrorMessageFromJson("no json"), "");
}

}  // namespace
}  // namespace firetower::query
