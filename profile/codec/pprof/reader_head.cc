// SPDX-License-Identifier: Apache-2.0
// The first pass of PprofReader: texts, scalars, and the positions of the entries.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "profile/codec/pprof/errors.h"
#include "profile/codec/pprof/fields.h"
#include "profile/codec/pprof/reader.h"
#include "profile/import.h"

namespace firetower::profile {
namespace {

// A thousand frames with labels are below 20 KiB; the bound keeps one entry's share small.
constexpr size_t kMaxEntryBytes = 1 << 20;
constexpr size_t kMaxSampleTypes = 64;
constexpr size_t kMaxComments = 4096;

}  // namespace

Status PprofReader::ReadHead(const WireField& field) {
  switch (field.number) {
    case pprof_field::kSampleType:
      if (sample_types_.size() >= kMaxSampleTypes) {
        return Error(
            ErrorCode::kExhausted,
            fmt::format("pprof: more than {} sample types: make a file of fewer", kMaxSampleTypes),
            kSaidByMessage);
      }
      sample_types_.emplace_back();
      return ReadType(field, "sample type", sample_types_.size(), &sample_types_.back());
    case pprof_field::kPeriodType:
      return ReadType(field, "period type", 1, &period_type_);
    case pprof_field::kSample:
      return KeepSample(field);
    case pprof_field::kMapping:
      return Keep(field, "mapping", &mapping_messages_);
    case pprof_field::kLocation:
      return Keep(field, "location", &location_messages_);
    case pprof_field::kFunction:
      return Keep(field, "function", &function_messages_);
    case pprof_field::kString:
      return KeepString(field);
    case pprof_field::kComment:
      return ReadComments(field);
    default:
      break;
  }
  if (field.is_bytes) {
    LeaveOut(field, pprof_field::kDocUrl, &losses_);
    return OkStatus();
  }
  switch (field.number) {
    case pprof_field::kDropFrames:
      drop_frames_ = field.number_value();
      break;
    case pprof_field::kKeepFrames:
      keep_frames_ = field.number_value();
      break;
    case pprof_field::kTimeNanos:
      meta_.time_nanos = field.number_value();
      break;
    case pprof_field::kDurationNanos:
      meta_.duration_nanos = field.number_value();
      break;
    case pprof_field::kPeriod:
      meta_.period = field.number_value();
      break;
    case pprof_field::kDefaultSampleType:
      default_sample_type_ = field.number_value();
      break;
    case pprof_field::kDocUrl:
      doc_url_ = field.number_value();
      break;
    default:
      LeaveOut(field, pprof_field::kDocUrl, &losses_);
      break;
  }
  return OkStatus();
}

Status PprofReader::KeepSample(const WireField& field) {
  const bool fits = field.is_bytes && sample_offsets_.size() < limits_.max_entries;
  if (!fits || field.bytes.size() > kMaxEntryBytes) {
    return EntryError(field, "sample", sample_offsets_.size() + 1);
  }
  sample_offsets_.push_back(static_cast<uint32_t>(field_offset_));
  return OkStatus();
}

Status PprofReader::Keep(const WireField& field, std::string_view kind,
                         std::vector<std::string_view>* list) {
  const bool fits = field.is_bytes && list->size() < limits_.max_entries;
  if (!fits || field.bytes.size() > kMaxEntryBytes) {
    return EntryError(field, kind, list->size() + 1);
  }
  list->push_back(field.bytes);
  return OkStatus();
}

// Why an entry is not kept.
Error PprofReader::EntryError(const WireField& field, std::string_view kind, size_t number) const {
  if (!field.is_bytes) return NotAMessage(kind, number);
  if (number > limits_.max_entries) {
    return {ErrorCode::kExhausted,
            fmt::format("pprof: more than {} entries of kind {}", limits_.max_entries, kind)};
  }
  return {ErrorCode::kExhausted, fmt::format("pprof: {} {} has {} bytes, more than the limit of {}",
                                             kind, number, field.bytes.size(), kMaxEntryBytes)};
}

Status PprofReader::KeepString(const WireField& field) {
  if (!field.is_bytes) return Corrupt("string", strings_.size(), "not a text");
  if (strings_.empty() && !field.bytes.empty()) {
    return Corrupt("string", 0, "the first one must be empty");
  }
  if (strings_.size() >= limits_.max_entries) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("pprof: more than {} strings", limits_.max_entries));
  }
  strings_.push_back(field.bytes);
  string_bytes_ += field.bytes.size();
  return OkStatus();
}

Status PprofReader::ReadType(const WireField& field, std::string_view kind, size_t number,
                             TypeEntry* type) {
  const bool whole = field.is_bytes && ForEachField(field.bytes, [&](const WireField& part) {
                       if (!part.is_bytes && part.number == pprof_field::kType) {
                         type->type = part.number_value();
                       } else if (!part.is_bytes && part.number == pprof_field::kUnit) {
                         type->unit = part.number_value();
                       } else {
                         LeaveOut(part, pprof_field::kUnit, &losses_);
                       }
                     });
  return whole ? OkStatus() : NotAMessage(kind, number);
}

Status PprofReader::ReadComments(const WireField& field) {
  if (!AppendNumbers(field, &comments_)) return Corrupt("comment", 0, "broken list");
  if (comments_.size() <= kMaxComments) return OkStatus();
  return Error(ErrorCode::kExhausted, fmt::format("pprof: more than {} comments", kMaxComments));
}

void PprofReader::LeaveOut(const WireField& field, uint32_t last, PprofLosses* losses) {
  const uint32_t number = field.number != 0 ? field.number : field.passed_number;
  ++(number <= last ? losses->wrong_types : losses->unknown_fields);
}

PprofLosses PprofReader::FindLosses() const {
  PprofLosses losses = losses_;
  losses.texts = static_cast<uint64_t>(
      std::ranges::count_if(strings_, [](std::string_view text) { return !IsValidUtf8(text); }));
  return losses;
}

Error PprofReader::NoString(int64_t index, std::string_view kind, size_t number) const {
  return Corrupt(kind, number,
                 fmt::format("string index {} is outside the table of {}", index, strings_.size()));
}

Result<std::string> PprofReader::Text(int64_t index, std::string_view kind, size_t number) const {
  if (!IsString(index)) return NoString(index, kind, number);
  return ToValidUtf8(strings_[static_cast<size_t>(index)]);
}

Result<ValueType> PprofReader::ResolveType(const TypeEntry& entry, std::string_view kind,
                                           size_t number) const {
  ASSIGN_OR_RETURN(std::string type, Text(entry.type, kind, number));
  ASSIGN_OR_RETURN(std::string unit, Text(entry.unit, kind, number));
  return ValueType{std::move(type), std::move(unit)};
}

Status PprofReader::ResolveMeta() {
  if (strings_.empty()) strings_.emplace_back();
  for (const TypeEntry& entry : sample_types_) {
    const size_t number = meta_.sample_types.size() + 1;
    ASSIGN_OR_RETURN(ValueType type, ResolveType(entry, "sample type", number));
    meta_.sample_types.push_back(std::move(type));
  }
  ASSIGN_OR_RETURN(meta_.period_type, ResolveType(period_type_, "period type", 1));
  ASSIGN_OR_RETURN(meta_.default_sample_type, Text(default_sample_type_, "default sample type", 1));
  ASSIGN_OR_RETURN(meta_.doc_url, Text(doc_url_, "doc url", 1));
  ASSIGN_OR_RETURN(meta_.drop_frames, Text(drop_frames_, "drop frames", 1));
  ASSIGN_OR_RETURN(meta_.keep_frames, Text(keep_frames_, "keep frames", 1));
  for (uint64_t comment : comments_) {
    const size_t number = meta_.comments.size() + 1;
    ASSIGN_OR_RETURN(std::string text, Text(static_cast<int64_t>(comment), "comment", number));
    meta_.comments.push_back(std::move(text));
  }
  return OkStatus();
}

}  // namespace firetower::profile
