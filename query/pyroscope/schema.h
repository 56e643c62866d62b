// SPDX-License-Identifier: Apache-2.0
// What the messages of querier.v1 and google.v1.Profile are made of, as far as they are read or
// written here: enough to tell their JSON form from their binary one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace firetower::query::pyroscope {

enum class FieldKind : uint8_t {
  kInt64,
  kUint64,
  kDouble,
  kBool,
  kString,
  kEnum,
  kMessage,
};

// Of an enum: its index is its number.
using EnumNames = std::span<const std::string_view>;
// Stands for a name that this version does not know.
inline constexpr uint64_t kUnknownEnum = INT32_MAX;

struct MessageSchema;

struct FieldSchema {
  std::string_view json;  // lowerCamelCase, which is written
  std::string_view name;  // as in the .proto file, which is read as well
  uint32_t number = 0;
  FieldKind kind = FieldKind::kInt64;
  bool is_repeated = false;
  const MessageSchema* message = nullptr;  // of kMessage
  EnumNames names = {};                    // of kEnum
};

struct MessageSchema {
  std::span<const FieldSchema> fields;
};

extern const MessageSchema kEmptyMessage;

extern const MessageSchema kProfileTypesRequest;
extern const MessageSchema kLabelNamesRequest;
extern const MessageSchema kLabelValuesRequest;
extern const MessageSchema kSeriesRequest;
extern const MessageSchema kSelectSeriesRequest;
extern const MessageSchema kSelectMergeStacktracesRequest;
extern const MessageSchema kSelectMergeSpanProfileRequest;
extern const MessageSchema kSelectMergeProfileRequest;
extern const MessageSchema kDiffRequest;

extern const MessageSchema kProfileTypesReply;
extern const MessageSchema kNamesReply;  // of LabelNames and LabelValues
extern const MessageSchema kSeriesReply;
extern const MessageSchema kProfileStatsReply;
extern const MessageSchema kSelectSeriesReply;
extern const MessageSchema kFlameReply;  // of SelectMergeStacktraces and -SpanProfile
extern const MessageSchema kDiffReply;
extern const MessageSchema kPprofProfile;

}  // namespace firetower::query::pyroscope
