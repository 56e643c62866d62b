// SPDX-License-Identifier: Apache-2.0
// Names and numbers of querier/v1/querier.proto, types/v1/types.proto and google/v1/profile.proto
// of github.com/grafana/pyroscope/api v1.6.0.
#include "query/pyroscope/schema.h"

namespace firetower::query::pyroscope {
namespace {

constexpr bool kRepeated = true;

constexpr FieldSchema Text(std::string_view json, std::string_view name, uint32_t number,
                           bool is_repeated = false) {
  return {json, name, number, FieldKind::kString, is_repeated};
}
constexpr FieldSchema Integer(std::string_view json, std::string_view name, uint32_t number,
                              bool is_repeated = false) {
  return {json, name, number, FieldKind::kInt64, is_repeated};
}
constexpr FieldSchema Unsigned(std::string_view json, std::string_view name, uint32_t number,
                               bool is_repeated = false) {
  return {json, name, number, FieldKind::kUint64, is_repeated};
}
constexpr FieldSchema Bool(std::string_view json, std::string_view name, uint32_t number) {
  return {json, name, number, FieldKind::kBool};
}
constexpr FieldSchema Message(std::string_view json, std::string_view name, uint32_t number,
                              const MessageSchema& message, bool is_repeated = false) {
  return {json, name, number, FieldKind::kMessage, is_repeated, &message};
}

constexpr std::string_view kFormats[] = {"PROFILE_FORMAT_UNSPECIFIED", "PROFILE_FORMAT_FLAMEGRAPH",
                                         "PROFILE_FORMAT_TREE", "PROFILE_FORMAT_DOT",
                                         "PROFILE_FORMAT_PPROF"};
constexpr std::string_view kAggregations[] = {"TIME_SERIES_AGGREGATION_TYPE_SUM",
                                              "TIME_SERIES_AGGREGATION_TYPE_AVERAGE"};

constexpr FieldSchema Format(uint32_t number) {
  return {"format", "format", number, FieldKind::kEnum, false, nullptr, kFormats};
}

// types.v1
constexpr FieldSchema kLocationFields[] = {Text("name", "name", 1)};
constexpr MessageSchema kCallSite{kLocationFields};
constexpr FieldSchema kStackFields[] = {Message("callSite", "call_site", 1, kCallSite, kRepeated)};
constexpr MessageSchema kStackSelector{kStackFields};
constexpr FieldSchema kPairFields[] = {Text("name", "name", 1), Text("value", "value", 2)};
constexpr MessageSchema kLabelPair{kPairFields};
constexpr FieldSchema kLabelsFields[] = {Message("labels", "labels", 1, kLabelPair, kRepeated)};
constexpr MessageSchema kLabels{kLabelsFields};
constexpr FieldSchema kTypeFields[] = {
    Text("ID", "ID", 1),
    Text("name", "name", 2),
    Text("sampleType", "sample_type", 4),
    Text("sampleUnit", "sample_unit", 5),
    Text("periodType", "period_type", 6),
    Text("periodUnit", "period_unit", 7),
};
constexpr MessageSchema kProfileType{kTypeFields};
constexpr FieldSchema kPointFields[] = {{"value", "value", 1, FieldKind::kDouble},
                                        Integer("timestamp", "timestamp", 2)};
constexpr MessageSchema kPoint{kPointFields};
constexpr FieldSchema kOneSeriesFields[] = {Message("labels", "labels", 1, kLabelPair, kRepeated),
                                            Message("points", "points", 2, kPoint, kRepeated)};
constexpr MessageSchema kOneSeries{kOneSeriesFields};

constexpr FieldSchema kTypesRequestFields[] = {Integer("start", "start", 1),
                                               Integer("end", "end", 2)};
constexpr FieldSchema kNamesRequestFields[] = {Text("matchers", "matchers", 1, kRepeated),
                                               Integer("start", "start", 2),
                                               Integer("end", "end", 3)};
constexpr FieldSchema kValuesRequestFields[] = {
    Text("name", "name", 1), Text("matchers", "matchers", 2, kRepeated),
    Integer("start", "start", 3), Integer("end", "end", 4)};
constexpr FieldSchema kSeriesRequestFields[] = {
    Text("matchers", "matchers", 1, kRepeated), Text("labelNames", "label_names", 2, kRepeated),
    Integer("start", "start", 3), Integer("end", "end", 4)};

// querier.v1
constexpr FieldSchema kSelectSeriesFields[] = {
    Text("profileTypeID", "profile_typeID", 1),
    Text("labelSelector", "label_selector", 2),
    Integer("start", "start", 3),
    Integer("end", "end", 4),
    Text("groupBy", "group_by", 5, kRepeated),
    {"step", "step", 6, FieldKind::kDouble},
    {"aggregation", "aggregation", 7, FieldKind::kEnum, false, nullptr, kAggregations},
    Message("stackTraceSelector", "stack_trace_selector", 8, kStackSelector),
    Integer("limit", "limit", 9),
};
constexpr FieldSchema kStacktracesFields[] = {
    Text("profileTypeID", "profile_typeID", 1),
    Text("labelSelector", "label_selector", 2),
    Integer("start", "start", 3),
    Integer("end", "end", 4),
    Integer("maxNodes", "max_nodes", 5),
    Format(6),
    Message("stackTraceSelector", "stack_trace_selector", 7, kStackSelector),
    Text("profileIdSelector", "profile_id_selector", 8, kRepeated),
    Text("traceIdSelector", "trace_id_selector", 10, kRepeated),
    Text("spanSelector", "span_selector", 11, kRepeated),
};
constexpr FieldSchema kSpanFields[] = {
    Text("profileTypeID", "profile_typeID", 1),
    Text("labelSelector", "label_selector", 2),
    Text("spanSelector", "span_selector", 3, kRepeated),
    Integer("start", "start", 4),
    Integer("end", "end", 5),
    Integer("maxNodes", "max_nodes", 6),
    Format(7),
};
constexpr FieldSchema kMergeProfileFields[] = {
    Text("profileTypeID", "profile_typeID", 1),
    Text("labelSelector", "label_selector", 2),
    Integer("start", "start", 3),
    Integer("end", "end", 4),
    Integer("maxNodes", "max_nodes", 5),
    Message("stackTraceSelector", "stack_trace_selector", 6, kStackSelector),
    Text("profileIdSelector", "profile_id_selector", 7, kRepeated),
    Text("traceIdSelector", "trace_id_selector", 8, kRepeated),
};
constexpr MessageSchema kStacktraces{kStacktracesFields};
constexpr FieldSchema kDiffFields[] = {Message("left", "left", 1, kStacktraces),
                                       Message("right", "right", 2, kStacktraces)};

constexpr FieldSchema kLevelFields[] = {Integer("values", "values", 1, kRepeated)};
constexpr MessageSchema kLevel{kLevelFields};
constexpr FieldSchema kFlameFields[] = {
    Text("names", "names", 1, kRepeated), Message("levels", "levels", 2, kLevel, kRepeated),
    Integer("total", "total", 3), Integer("maxSelf", "max_self", 4)};
constexpr MessageSchema kFlame{kFlameFields};
constexpr FieldSchema kFlameDiffFields[] = {
    Text("names", "names", 1, kRepeated), Message("levels", "levels", 2, kLevel, kRepeated),
    Integer("total", "total", 3),         Integer("maxSelf", "max_self", 4),
    Integer("leftTicks", "leftTicks", 5), Integer("rightTicks", "rightTicks", 6)};
constexpr MessageSchema kFlameDiff{kFlameDiffFields};

// google.v1
constexpr FieldSchema kValueTypeFields[] = {Integer("type", "type", 1), Integer("unit", "unit", 2)};
constexpr MessageSchema kValueType{kValueTypeFields};
constexpr FieldSchema kLabelFields[] = {Integer("key", "key", 1), Integer("str", "str", 2),
                                        Integer("num", "num", 3),
                                        Integer("numUnit", "num_unit", 4)};
constexpr MessageSchema kLabel{kLabelFields};
constexpr FieldSchema kSampleFields[] = {Unsigned("locationId", "location_id", 1, kRepeated),
                                         Integer("value", "value", 2, kRepeated),
                                         Message("label", "label", 3, kLabel, kRepeated)};
constexpr MessageSchema kSample{kSampleFields};
constexpr FieldSchema kMappingFields[] = {
    Unsigned("id", "id", 1),
    Unsigned("memoryStart", "memory_start", 2),
    Unsigned("memoryLimit", "memory_limit", 3),
    Unsigned("fileOffset", "file_offset", 4),
    Integer("filename", "filename", 5),
    Integer("buildId", "build_id", 6),
    Bool("hasFunctions", "has_functions", 7),
    Bool("hasFilenames", "has_filenames", 8),
    Bool("hasLineNumbers", "has_line_numbers", 9),
    Bool("hasInlineFrames", "has_inline_frames", 10),
};
constexpr MessageSchema kMapping{kMappingFields};
constexpr FieldSchema kLineFields[] = {Unsigned("functionId", "function_id", 1),
                                       Integer("line", "line", 2)};
constexpr MessageSchema kLine{kLineFields};
constexpr FieldSchema kPprofLocationFields[] = {
    Unsigned("id", "id", 1), Unsigned("mappingId", "mapping_id", 2),
    Unsigned("address", "address", 3), Message("line", "line", 4, kLine, kRepeated),
    Bool("isFolded", "is_folded", 5)};
constexpr MessageSchema kPprofLocation{kPprofLocationFields};
constexpr FieldSchema kFunctionFields[] = {
    Unsigned("id", "id", 1), Integer("name", "name", 2), Integer("systemName", "system_name", 3),
    Integer("filename", "filename", 4), Integer("startLine", "start_line", 5)};
constexpr MessageSchema kFunction{kFunctionFields};
constexpr FieldSchema kPprofFields[] = {
    Message("sampleType", "sample_type", 1, kValueType, kRepeated),
    Message("sample", "sample", 2, kSample, kRepeated),
    Message("mapping", "mapping", 3, kMapping, kRepeated),
    Message("location", "location", 4, kPprofLocation, kRepeated),
    Message("function", "function", 5, kFunction, kRepeated),
    Text("stringTable", "string_table", 6, kRepeated),
    Integer("dropFrames", "drop_frames", 7),
    Integer("keepFrames", "keep_frames", 8),
    Integer("timeNanos", "time_nanos", 9),
    Integer("durationNanos", "duration_nanos", 10),
    Message("periodType", "period_type", 11, kValueType),
    Integer("period", "period", 12),
    Integer("comment", "comment", 13, kRepeated),
    Integer("defaultSampleType", "default_sample_type", 14),
};
constexpr MessageSchema kPprof{kPprofFields};
constexpr FieldSchema kPprofReplyFields[] = {Message("profile", "profile", 1, kPprof)};
constexpr MessageSchema kPprofReply{kPprofReplyFields};

constexpr FieldSchema kTypesReplyFields[] = {
    Message("profileTypes", "profile_types", 1, kProfileType, kRepeated)};
constexpr FieldSchema kNamesReplyFields[] = {Text("names", "names", 1, kRepeated)};
constexpr FieldSchema kSeriesReplyFields[] = {
    Message("labelsSet", "labels_set", 2, kLabels, kRepeated)};
constexpr FieldSchema kStatsFields[] = {
    Bool("dataIngested", "data_ingested", 1),
    Integer("oldestProfileTime", "oldest_profile_time", 2),
    Integer("newestProfileTime", "newest_profile_time", 3),
};
constexpr FieldSchema kSelectSeriesReplyFields[] = {
    Message("series", "series", 1, kOneSeries, kRepeated)};
constexpr FieldSchema kFlameReplyFields[] = {Message("flamegraph", "flamegraph", 1, kFlame),
                                             Message("pprof", "pprof", 5, kPprofReply)};
constexpr FieldSchema kDiffReplyFields[] = {Message("flamegraph", "flamegraph", 1, kFlameDiff)};

}  // namespace

const MessageSchema kEmptyMessage{};
const MessageSchema kProfileTypesRequest{kTypesRequestFields};
const MessageSchema kLabelNamesRequest{kNamesRequestFields};
const MessageSchema kLabelValuesRequest{kValuesRequestFields};
const MessageSchema kSeriesRequest{kSeriesRequestFields};
const MessageSchema kSelectSeriesRequest{kSelectSeriesFields};
const MessageSchema kSelectMergeStacktracesRequest = kStacktraces;
const MessageSchema kSelectMergeSpanProfileRequest{kSpanFields};
const MessageSchema kSelectMergeProfileRequest{kMergeProfileFields};
const MessageSchema kDiffRequest{kDiffFields};

const MessageSchema kProfileTypesReply{kTypesReplyFields};
const MessageSchema kNamesReply{kNamesReplyFields};
const MessageSchema kSeriesReply{kSeriesReplyFields};
const MessageSchema kProfileStatsReply{kStatsFields};
const MessageSchema kSelectSeriesReply{kSelectSeriesReplyFields};
const MessageSchema kFlameReply{kFlameReplyFields};
const MessageSchema kDiffReply{kDiffReplyFields};
const MessageSchema kPprofProfile = kPprof;

}  // namespace firetower::query::pyroscope
