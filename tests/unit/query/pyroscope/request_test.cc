// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace firetower::query::pyroscope {
namespace {

using ::testing::ElementsAre;

// The bytes that Go's generated client (github.com/grafana/pyroscope/api v1.6.0) sends: tag,
// length, content.
using std::literals::string_view_literals::operator""sv;

// {profile_typeID: "a:b:c:d:e", label_selector: "{x=\"y\"}", start: 1000, end: 4000,
//  group_by: ["pod"], step: 15, limit: 2, stack_trace_selector: {call_site: [{name: "main"}]}}
constexpr std::string_view kSeries =
    "\x0a\x09"
    "a:b:c:d:e"
    "\x12\x07{x=\"y\"}"
    "\x18\xe8\x07\x20\xa0\x1f\x2a\x03pod"
    "\x31\x00\x00\x00\x00\x00\x00\x2e\x40"
    "\x42\x08\x0a\x06\x0a\x04main\x48\x02"sv;

TEST(PyroscopeRequest, ReadsSelectSeries) {
  const Result<SelectRequest> request = ReadSelectSeriesRequest(kSeries);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->type_id, "a:b:c:d:e");
  EXPECT_EQ(request->selector, "{x=\"y\"}");
  EXPECT_EQ(request->range.start_ms, 1000);
  EXPECT_EQ(request->range.end_ms, 4000);
  EXPECT_THAT(request->group_by, ElementsAre("pod"));
  EXPECT_EQ(request->step_seconds, 15);
  EXPECT_THAT(request->call_site, ElementsAre("main"));
  EXPECT_EQ(request->limit, 2);
  EXPECT_FALSE(request->names_ids);
}

// A message cut between two fields is one; all else is refused, and nothing is read beyond.
TEST(PyroscopeRequest, EveryPrefixIsReadOrRefused) {
  size_t whole = 0;
  for (size_t n = 0; n < kSeries.size(); ++n) {
    const std::string cut(kSeries.substr(0, n));
    const Result<SelectRequest> request = ReadSelectSeriesRequest(cut);
    whole += request.has_value() ? 1 : 0;
    if (request) continue;
    EXPECT_EQ(request.error().code(), ErrorCode::kInvalid) << n;
  }
  EXPECT_EQ(whole, 8u) << "before each of the eight fields";
  // Within a nested message the outer one is whole and the inner one is not.
  EXPECT_FALSE(ReadSelectSeriesRequest("\x42\x03\x0a\x06\x0a"sv));
}

TEST(PyroscopeRequest, EachMethodHasItsOwnNumbers) {
  const auto types = ReadProfileTypesRequest("\x08\xe8\x07\x10\xa0\x1f"sv);
  ASSERT_TRUE(types);
  EXPECT_EQ(types->range.start_ms, 1000);
  EXPECT_EQ(types->range.end_ms, 4000);
  const auto names = ReadLabelNamesRequest("\x0a\x02{}\x10\x01\x18\x02"sv);
  ASSERT_TRUE(names);
  EXPECT_THAT(names->matchers, ElementsAre("{}"));
  EXPECT_EQ(names->range.start_ms, 1);
  EXPECT_EQ(names->range.end_ms, 2);
  const auto values = ReadLabelValuesRequest("\x0a\x03pod\x12\x02{}\x18\x01\x20\x02"sv);
  ASSERT_TRUE(values);
  EXPECT_EQ(values->name, "pod");
  EXPECT_THAT(values->matchers, ElementsAre("{}"));
  EXPECT_EQ(values->range.end_ms, 2);
  const auto sets = ReadSeriesRequest("\x0a\x02{}\x12\x03pod\x12\x01x"sv);
  ASSERT_TRUE(sets);
  EXPECT_THAT(sets->label_names, ElementsAre("pod", "x"));
  EXPECT_EQ(sets->range.end_ms, 0);

  const auto stacks = ReadStacktracesRequest("\x18\x01\x20\x02\x28\x10\x30\x04\x52\x01t"sv);
  ASSERT_TRUE(stacks);
  EXPECT_EQ(stacks->range.start_ms, 1);
  EXPECT_EQ(stacks->max_nodes, 16);
  EXPECT_EQ(stacks->format, 4u);
  EXPECT_TRUE(stacks->names_ids) << "a trace";
  const auto span = ReadSpanProfileRequest("\x1a\x01s\x20\x01\x28\x02\x30\x10"sv);
  ASSERT_TRUE(span);
  EXPECT_EQ(span->range.start_ms, 1);
  EXPECT_EQ(span->range.end_ms, 2);
  EXPECT_EQ(span->max_nodes, 16);
  EXPECT_TRUE(span->names_ids) << "no span has that id";
  const auto spans = ReadSpanProfileRequest("\x1a\x03\x30\x41\x62\x1a\x02\x63\x64\x1a\x01)"sv);
  ASSERT_TRUE(spans);
  EXPECT_EQ(spans->tag_focus, "span_id=^(0ab|cd)$");
  EXPECT_FALSE(spans->names_ids);
  const auto merge = ReadMergeProfileRequest("\x18\x01\x28\x10\x32\x05\x0a\x03\x0a\x01m"sv);
  ASSERT_TRUE(merge);
  EXPECT_EQ(merge->max_nodes, 16);
  EXPECT_THAT(merge->call_site, ElementsAre("m"));
  EXPECT_FALSE(merge->names_ids);
  const auto diff = ReadDiffRequest("\x0a\x03\x0a\x01l\x12\x03\x0a\x01r"sv);
  ASSERT_TRUE(diff);
  EXPECT_EQ(diff->first.type_id, "l");
  EXPECT_EQ(diff->second.type_id, "r");
  EXPECT_FALSE(ReadDiffRequest("\x0a\x02\x0a\x05"sv));
}

TEST(PyroscopeRequest, IgnoresUnknownFieldsOfEveryKind) {
  // Field 30 as varint, fixed64, bytes and fixed32, before the end at 4.
  const auto request = ReadStacktracesRequest(
      "\xf0\x01\x05\xf1\x01"
      "12345678"
      "\xf2\x01\x02xy\xf5\x01"
      "1234"
      "\x20\x07"sv);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->range.end_ms, 7);
}

}  // namespace
}  // namespace firetower::query::pyroscope
