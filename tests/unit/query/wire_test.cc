// SPDX-License-Identifier: Apache-2.0
#include "query/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::query {
namespace {

TEST(Wire, TracesHaveTheirIdWhereProcessesHaveTheirName) {
  TopReply reply;
  for (const char* by : {"processes", "traces"}) {
    reply.by = by;
    reply.processes.resize(1);
    reply.processes[0].process = "4bf92f3577b34da6a3ce929d0e0e4736";
    const std::string json = ToJson(reply);
    const std::string_view field = reply.by == "traces" ? "\"trace_id\":" : "\"process\":";
    EXPECT_NE(json.find(field), std::string::npos) << json;
    const auto read = TopReplyFromJson(json);
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(read->processes.size(), 1u);
    EXPECT_EQ(read->processes[0].process, reply.processes[0].process);
  }
}

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
  reply.by = "processes";
  reply.containers.clear();
  reply.processes.push_back({"ns", "p", "c", "web", 12.5, 0.25, 3, 4, {"main", "f<\"x\">"}, 50});
  back = TopReplyFromJson(ToJson(reply));
  ASSERT_TRUE(back);
  EXPECT_EQ(ToJson(*back), ToJson(reply));
  EXPECT_EQ(back->processes.at(0).hottest_stack.at(1), "f<\"x\">");
  reply.processes.clear();
  reply.by = "functions";
  reply.functions.push_back({"f", "m", "", 0, 1, 2.5, 3, 4.5, {"a/b/c"}});
  back = TopReplyFromJson(ToJson(reply));
  ASSERT_TRUE(back);
  EXPECT_EQ(ToJson(*back), ToJson(reply));
  reply.by = "lines";
  reply.functions = {{"f", "m", "/app.py", 17, 1, 2.5, 3, 4.5, {"a/b/c"}}};
  reply.functions[0].growth = -7;
  back = TopReplyFromJson(ToJson(reply));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->functions.at(0).file, "/app.py");
  EXPECT_EQ(back->functions.at(0).line, 17);
  EXPECT_EQ(back->functions.at(0).growth, -7);
}

TEST(Wire, HostileNamesStayValidJson) {
  TopReply reply;
  reply.by = "functions";
  reply.functions.push_back({"\xff\x00\x1b[2J", "\xc3", "", 0, 1, 1, 1, 1, {}});
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

TEST(Wire, RefusesNumbersThatAreNoIntegersOfOurs) {
  TopReply top;
  top.by = "functions";
  top.total = 7;
  std::string json = ToJson(top);
  SeriesReply series;
  series.series.push_back({{{"a", "b"}}, 1, {{7, 0.5}}});
  std::string with_points = ToJson(series);
  auto with = [](std::string text, std::string_view member, std::string_view number) {
    size_t at = text.find(member);
    EXPECT_NE(at, std::string::npos);
    return text.replace(at + member.size(), 1, number);
  };
  // Beyond 2^63 in either direction, and fractions: RFC 8259 allows them all.
  for (const char* number : {"1e63", "-1e63", "9223372036854775808", "-9223372036854775809",
                             "18446744073709551616", "7.5", "null", "\"7\"", "true"}) {
    auto reply = TopReplyFromJson(with(json, "\"total\":", number));
    ASSERT_FALSE(reply) << number;
    EXPECT_THAT(reply.error().message(), ::testing::HasSubstr("integer")) << number;
    EXPECT_FALSE(SeriesReplyFromJson(with(with_points, "\"points\":[[", number))) << number;
  }
  EXPECT_EQ(TopReplyFromJson(with(json, "\"total\":", "9223372036854775807"))->total, INT64_MAX);
  EXPECT_EQ(TopReplyFromJson(with(json, "\"total\":", "-9223372036854775808"))->total, INT64_MIN);
  EXPECT_EQ(
      SeriesReplyFromJson(with(with_points, "\"points\":[[", "-8"))->series[0].points[0].first, -8);
  for (const char* points : {"[7,1,2]", "[7]", "{}", "7"}) {
    EXPECT_FALSE(SeriesReplyFromJson(R"({"type":"","unit":"","from_ms":1,"to_ms":1,)"
                                     R"("step_seconds":1,"series":[{"labels":{},"total":1,)"
                                     R"("points":[)" +
                                     std::string(points) + "]}]}"))
        << points;
  }
}

}  // namespace
}  // namespace firetower::query
