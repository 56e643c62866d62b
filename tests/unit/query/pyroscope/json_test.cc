// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/pyroscope/querier.pb.h"
#include "query/pyroscope/request.h"

namespace firetower::query::pyroscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace pb = proto::pyroscope;

constexpr size_t kMaxBytes = 1 << 20;

const google::protobuf::Descriptor& kSelectSeriesRequest = *pb::SelectSeriesRequest::descriptor();
const google::protobuf::Descriptor& kFlameReply = *pb::SelectMergeStacktracesResponse::descriptor();

SelectRequest SeriesRequestOf(std::string_view json) {
  const Result<std::string> message = MessageFromJson(json, kSelectSeriesRequest);
  EXPECT_TRUE(message) << json;
  const Result<SelectRequest> request = ReadSelectSeriesRequest(message.value_or(""));
  EXPECT_TRUE(request);
  return request.value_or(SelectRequest());
}

constexpr std::string_view kWhole =
    R"({"profileTypeID":"t","labelSelector":"{}","start":"1000","end":"4000","groupBy":["a","b"],)"
    R"("step":15.5,"aggregation":"TIME_SERIES_AGGREGATION_TYPE_AVERAGE",)"
    R"("stackTraceSelector":{"callSite":[{"name":"main"},{"name":"Serve"}]},"limit":"3"})";

TEST(PyroscopeJson, ReadsEveryFieldOfARequest) {
  const SelectRequest request = SeriesRequestOf(kWhole);
  EXPECT_EQ(request.type_id, "t");
  EXPECT_EQ(request.selector, "{}");
  EXPECT_EQ(request.range.start_ms, 1000);
  EXPECT_EQ(request.range.end_ms, 4000);
  EXPECT_THAT(request.group_by, ElementsAre("a", "b"));
  EXPECT_EQ(request.step_seconds, 15.5);
  EXPECT_EQ(request.aggregation, 1u);
  EXPECT_THAT(request.call_site, ElementsAre("main", "Serve"));
  EXPECT_EQ(request.limit, 3);
}

TEST(PyroscopeJson, TakesTheOriginalNamesToo) {
  const SelectRequest request =
      SeriesRequestOf(R"({"profile_typeID":"t","label_selector":"{}","group_by":["a"],)"
                      R"("stack_trace_selector":{"call_site":[{"name":"main"}]}})");
  EXPECT_EQ(request.type_id, "t");
  EXPECT_EQ(request.selector, "{}");
  EXPECT_THAT(request.group_by, ElementsAre("a"));
  EXPECT_THAT(request.call_site, ElementsAre("main"));
}

TEST(PyroscopeJson, TakesEverySpellingOfANumber) {
  for (const char* text : {"1782900000000", "\"1782900000000\"", "1782900000000.0", "1.7829e12"}) {
    EXPECT_EQ(SeriesRequestOf(std::string("{\"start\":") + text + "}").range.start_ms,
              1'782'900'000'000)
        << text;
  }
  EXPECT_EQ(SeriesRequestOf("{\"start\":-1}").range.start_ms, -1);
  EXPECT_EQ(SeriesRequestOf("{\"step\":\"15\"}").step_seconds, 15);
  EXPECT_EQ(SeriesRequestOf("{\"aggregation\":1}").aggregation, 1u);
}

TEST(PyroscopeJson, IgnoresWhatItDoesNotKnow) {
  const SelectRequest request = SeriesRequestOf(
      R"({"frameFilter":{"deep":[1,{"a":null}]},"exemplarType":"EXEMPLAR_TYPE_NONE","start":null,)"
      R"("aggregation":"TIME_SERIES_AGGREGATION_TYPE_MEDIAN","limit":2})");
  EXPECT_EQ(request.range.start_ms, 0);
  EXPECT_EQ(request.aggregation, kUnknownEnum);
  EXPECT_EQ(request.limit, 2);
}

TEST(PyroscopeJson, RefusesWhatIsNotOfItsKind) {
  const struct {
    const char* json;
    const char* why;
  } rows[] = {
      {"[]", "not a JSON object"},
      {"", "not a JSON object"},
      {"{\"start\":1.5}", "\"start\" is not a 64-bit integer"},
      {"{\"start\":\"9223372036854775808\"}", "\"start\" is not a 64-bit integer"},
      {"{\"start\":18446744073709551615}", "\"start\" is not a 64-bit integer"},
      {"{\"start\":\"\"}", "\"start\" is not a 64-bit integer"},
      {"{\"start\":true}", "\"start\" is not a 64-bit integer"},
      {"{\"step\":\"NaN\"}", "\"step\" is not a finite number"},
      {"{\"step\":1e999}", "not a JSON object"},
      {"{\"labelSelector\":1}", "\"labelSelector\" is not a text"},
      {"{\"groupBy\":\"a\"}", "\"groupBy\" is not a list"},
      {"{\"groupBy\":[null]}", "\"groupBy\" is not a text"},
      {"{\"aggregation\":[]}", "\"aggregation\" is not an enum's"},
      {"{\"stackTraceSelector\":[]}", "\"stackTraceSelector\" is not an object"},
      {"{\"stackTraceSelector\":{\"callSite\":[{\"name\":1}]}}", "callSite: member \"name\""},
  };
  for (const auto& row : rows) {
    const Result<std::string> message = MessageFromJson(row.json, kSelectSeriesRequest);
    ASSERT_FALSE(message) << row.json;
    EXPECT_EQ(message.error().code(), ErrorCode::kInvalid) << row.json;
    EXPECT_THAT(message.error().message(), HasSubstr(row.why)) << row.json;
  }
}

TEST(PyroscopeJson, RefusesEveryPrefix) {
  for (size_t n = 0; n < kWhole.size(); ++n) {
    EXPECT_FALSE(MessageFromJson(kWhole.substr(0, n), kSelectSeriesRequest)) << n;
  }
}

TEST(PyroscopeJson, WritesLowerCamelAndIntegersAsTexts) {
  pb::SelectSeriesResponse reply;
  pb::Series& series = *reply.add_series();
  pb::LabelPair& label = *series.add_labels();
  label.set_name("pod");
  label.set_value("a\"b");
  pb::Point& point = *series.add_points();
  point.set_value(2.5);
  point.set_timestamp(1'782'900'000'000);
  series.add_points();
  EXPECT_EQ(
      MessageToJson(reply.SerializeAsString(), *pb::SelectSeriesResponse::descriptor(), kMaxBytes)
          .value(),
      R"({"series":[{"labels":[{"name":"pod","value":"a\"b"}],)"
      R"("points":[{"value":2.5,"timestamp":"1782900000000"},{}]}]})");
}

TEST(PyroscopeJson, WritesPackedNumbersAndEmptyMessages) {
  pb::SelectMergeStacktracesResponse reply;
  pb::FlameGraph& graph = *reply.mutable_flamegraph();
  graph.add_names("total");
  pb::Level& level = *graph.add_levels();
  for (const int64_t value : {0, -1, 5}) level.add_values(value);
  graph.add_levels();
  EXPECT_EQ(MessageToJson(reply.SerializeAsString(), kFlameReply, kMaxBytes).value(),
            R"({"flamegraph":{"names":["total"],"levels":[{"values":["0","-1","5"]},{}]}})");
  EXPECT_EQ(MessageToJson("", kFlameReply, kMaxBytes).value(), "{}");
}

// A member of any depth that is not known is not looked into.
TEST(PyroscopeJson, DeepUnknownMembersAreNoDanger) {
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  EXPECT_EQ(SeriesRequestOf("{\"frameFilter\":" + deep + ",\"limit\":2}").limit, 2);
  EXPECT_FALSE(MessageFromJson("{\"limit\":" + deep + "}", kSelectSeriesRequest));
}

TEST(PyroscopeJson, StopsAtItsLimit) {
  pb::NamesResponse reply;
  for (int i = 0; i < 100; ++i) reply.add_names("0123456789");
  const std::string message = reply.SerializeAsString();
  EXPECT_TRUE(MessageToJson(message, *pb::NamesResponse::descriptor(), 2000));
  const Result<std::string> json = MessageToJson(message, *pb::NamesResponse::descriptor(), 1000);
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().code(), ErrorCode::kExhausted);
  EXPECT_THAT(json.error().message(), HasSubstr("application/proto"));
}

}  // namespace
}  // namespace firetower::query::pyroscope
