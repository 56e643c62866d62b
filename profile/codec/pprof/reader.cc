// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/pprof/reader.h"

#include <fmt/core.h>

#include "base/check.h"
#include "base/json.h"
#include "profile/codec/pprof/fields.h"

namespace firetower::profile {
namespace {

// A thousand frames with labels are below 20 KiB; the bound keeps one entry's share small.
constexpr size_t kMaxEntryBytes = 1 << 20;
constexpr size_t kMaxSampleTypes = 64;
constexpr size_t kMaxComments = 4096;

template <typename Visit>
bool ForEachField(std::string_view message, const Visit& visit) {
  WireReader in(message);
  WireField field;
  while (!in.empty()) {
    if (!in.ReadField(&field)) return false;
    visit(field);
  }
  return true;
}

// A repeated number comes one by one or packed: protobuf allows both.
template <typename T>
bool AppendNumbers(const WireField& field, std::vector<T>* to) {
  if (!field.is_bytes) {
    to->push_back(static_cast<T>(field.value));
    return true;
  }
  WireReader in(field.bytes);
  uint64_t number = 0;
  while (!in.empty()) {
    if (!in.ReadVarint(&number)) return false;
    to->push_back(static_cast<T>(number));
  }
  return true;
}

Error Corrupt(std::string_view kind, size_t number, std::string_view why) {
  return {ErrorCode::kCorrupt, fmt::format("pprof: {} {}: {}", kind, number, why)};
}

Error NotAMessage(std::string_view kind, size_t number) {
  return Corrupt(kind, number, "not a valid message");
}

}  // namespace

bool IdMap::Add(uint64_t id, uint32_t index) {
  if (id == 0 || Find(id) != kNone) return false;
  if (id > kMaxDense) return sparse_.emplace(id, index).second;
  if (id >= dense_.size()) dense_.resize(id + 1, kNone);
  dense_[id] = index;
  return true;
}

void PprofReader::Clear() {
  meta_ = {};
  sample_types_.clear();
  period_type_ = {};
  comments_.clear();
  default_sample_type_ = doc_url_ = drop_frames_ = keep_frames_ = 0;
  string_bytes_ = frame_count_ = 0;
  for (auto* list : {&strings_, &mapping_messages_, &function_messages_, &location_messages_}) {
    list->clear();
  }
  sample_offsets_.clear();
  mappings_.clear();
  functions_.clear();
  locations_.clear();
  lines_.clear();
  mapping_ids_.Clear();
  function_ids_.Clear();
  location_ids_.Clear();
}

// Entries may refer forward, so each table waits until those it refers to are there.
Status PprofReader::Read(std::string_view raw, const PprofDecodeLimits& limits) {
  Clear();
  limits_ = limits;
  raw_ = raw;
  if (raw.size() > UINT32_MAX) {
    return Error(ErrorCode::kExhausted, "pprof: more than 4 GiB");
  }
  WireReader in(raw);
  WireField field;
  while (!in.empty()) {
    field_offset_ = in.position();
    if (!in.ReadField(&field)) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("not a pprof profile: broken field near byte {}", in.position()));
    }
    RETURN_IF_ERROR(ReadHead(field));
  }
  RETURN_IF_ERROR(ResolveMeta());
  functions_.reserve(function_messages_.size());
  locations_.reserve(location_messages_.size());
  lines_.reserve(location_messages_.size());
  for (std::string_view message : mapping_messages_) RETURN_IF_ERROR(ReadMapping(message));
  for (std::string_view message : function_messages_) RETURN_IF_ERROR(ReadFunction(message));
  for (std::string_view message : location_messages_) RETURN_IF_ERROR(ReadLocation(message));
  for (uint32_t i = 0; i < sample_count(); ++i) {
    RETURN_IF_ERROR(ReadSample(i));
    frame_count_ += stack_.size();
  }
  return OkStatus();
}

Status PprofReader::ReadHead(const WireField& field) {
  switch (field.number) {
    case pprof_field::kSampleType:
      if (sample_types_.size() >= kMaxSampleTypes) {
        return Error(ErrorCode::kExhausted,
                     fmt::format("pprof: more than {} sample types", kMaxSampleTypes));
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
  if (field.is_bytes) return OkStatus();
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
      break;
  }
  return OkStatus();
}

Status PprofReader::KeepSample(const WireField& field) {
  RETURN_IF_ERROR(CheckEntry(field, "sample", size_t{sample_count()} + 1));
  sample_offsets_.push_back(static_cast<uint32_t>(field_offset_));
  return OkStatus();
}

Status PprofReader::Keep(const WireField& field, std::string_view kind,
                         std::vector<std::string_view>* list) {
  RETURN_IF_ERROR(CheckEntry(field, kind, list->size() + 1));
  list->push_back(field.bytes);
  return OkStatus();
}

Status PprofReader::CheckEntry(const WireField& field, std::string_view kind, size_t number) const {
  if (!field.is_bytes) return NotAMessage(kind, number);
  if (number > limits_.max_entries) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("pprof: more than {} entries of kind {}", limits_.max_entries, kind));
  }
  if (field.bytes.size() > kMaxEntryBytes) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("pprof: {} {} has {} bytes, more than the limit of {}", kind, number,
                             field.bytes.size(), kMaxEntryBytes));
  }
  return OkStatus();
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
                       if (part.is_bytes) return;
                       if (part.number == pprof_field::kType) type->type = part.number_value();
                       if (part.number == pprof_field::kUnit) type->unit = part.number_value();
                     });
  return whole ? OkStatus() : NotAMessage(kind, number);
}

Status PprofReader::ReadComments(const WireField& field) {
  if (!AppendNumbers(field, &comments_)) return Corrupt("comment", 0, "broken list");
  if (comments_.size() <= kMaxComments) return OkStatus();
  return Error(ErrorCode::kExhausted, fmt::format("pprof: more than {} comments", kMaxComments));
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

Status PprofReader::ReadMapping(std::string_view message) {
  const size_t number = mappings_.size() + 1;
  Mapping to;
  uint64_t id = 0;
  int64_t filename = 0;
  int64_t build_id = 0;
  auto visit = [&](const WireField& field) {
    if (field.is_bytes) return;
    auto flag = [&](Mapping::Flags bit) {
      if (field.value != 0) to.flags |= bit;
    };
    switch (field.number) {
      case pprof_field::kMappingId:
        id = field.value;
        break;
      case pprof_field::kMemoryStart:
        to.memory_start = field.value;
        break;
      case pprof_field::kMemoryLimit:
        to.memory_limit = field.value;
        break;
      case pprof_field::kFileOffset:
        to.file_offset = field.value;
        break;
      case pprof_field::kMappingFilename:
        filename = field.number_value();
        break;
      case pprof_field::kBuildId:
        build_id = field.number_value();
        break;
      case pprof_field::kHasFunctions:
        return flag(Mapping::kHasFunctions);
      case pprof_field::kHasFilenames:
        return flag(Mapping::kHasFilenames);
      case pprof_field::kHasLineNumbers:
        return flag(Mapping::kHasLineNumbers);
      case pprof_field::kHasInlineFrames:
        return flag(Mapping::kHasInlineFrames);
      default:
        break;
    }
  };
  if (!ForEachField(message, visit)) return NotAMessage("mapping", number);
  if (!IsString(filename)) return NoString(filename, "mapping", number);
  if (!IsString(build_id)) return NoString(build_id, "mapping", number);
  to.filename = static_cast<StringId>(filename);
  to.build_id = static_cast<StringId>(build_id);
  if (!mapping_ids_.Add(id, mapping_count())) {
    return Corrupt("mapping", number, fmt::format("id {} is 0 or taken", id));
  }
  mappings_.push_back(to);
  return OkStatus();
}

Status PprofReader::ReadFunction(std::string_view message) {
  const size_t number = functions_.size() + 1;
  uint64_t id = 0;
  int64_t start_line = 0;
  int64_t texts[] = {0, 0, 0};
  auto visit = [&](const WireField& field) {
    if (field.is_bytes) return;
    switch (field.number) {
      case pprof_field::kFunctionOwnId:
        id = field.value;
        break;
      case pprof_field::kName:
      case pprof_field::kSystemName:
      case pprof_field::kFilename:
        texts[field.number - pprof_field::kName] = field.number_value();
        break;
      case pprof_field::kStartLine:
        start_line = field.number_value();
        break;
      default:
        break;
    }
  };
  if (!ForEachField(message, visit)) return NotAMessage("function", number);
  for (int64_t text : texts) {
    if (!IsString(text)) return NoString(text, "function", number);
  }
  if (!function_ids_.Add(id, function_count())) {
    return Corrupt("function", number, fmt::format("id {} is 0 or taken", id));
  }
  functions_.push_back({.name = static_cast<StringId>(texts[0]),
                        .system_name = static_cast<StringId>(texts[1]),
                        .filename = static_cast<StringId>(texts[2]),
                        .start_line = start_line});
  return OkStatus();
}

Status PprofReader::ReadLine(std::string_view message, size_t location_number) {
  Line line;
  uint64_t function = 0;
  auto visit = [&](const WireField& field) {
    if (field.is_bytes) return;
    if (field.number == pprof_field::kFunctionIdOfLine) function = field.value;
    if (field.number == pprof_field::kLineNumber) line.line = field.number_value();
    if (field.number == pprof_field::kColumn) line.column = static_cast<uint32_t>(field.value);
  };
  if (!ForEachField(message, visit)) return NotAMessage("location", location_number);
  if (lines_.size() >= limits_.max_entries) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("pprof: more than {} lines of locations", limits_.max_entries));
  }
  line.function = function_ids_.Find(function);
  if (line.function == IdMap::kNone) {
    return Corrupt("location", location_number,
                   fmt::format("function {} does not exist", function));
  }
  lines_.push_back(line);
  return OkStatus();
}

Status PprofReader::ReadLocation(std::string_view message) {
  const size_t number = locations_.size() + 1;
  LocationEntry to{.first_line = static_cast<uint32_t>(lines_.size())};
  uint64_t id = 0;
  uint64_t mapping_id = 0;
  Status lines = OkStatus();
  auto visit = [&](const WireField& field) {
    if (field.is_bytes) {
      if (field.number == pprof_field::kLine && lines) lines = ReadLine(field.bytes, number);
      return;
    }
    switch (field.number) {
      case pprof_field::kLocationOwnId:
        id = field.value;
        break;
      case pprof_field::kMappingIdOfLocation:
        mapping_id = field.value;
        break;
      case pprof_field::kLocationAddress:
        to.address = field.value;
        break;
      case pprof_field::kIsFolded:
        to.is_folded = field.value != 0;
        break;
      default:
        break;
    }
  };
  if (!ForEachField(message, visit)) return NotAMessage("location", number);
  RETURN_IF_ERROR(std::move(lines));
  if (mapping_id != 0) {
    to.mapping = mapping_ids_.Find(mapping_id);
    if (to.mapping == IdMap::kNone) {
      return Corrupt("location", number, fmt::format("mapping {} does not exist", mapping_id));
    }
  }
  to.line_count = static_cast<uint32_t>(lines_.size()) - to.first_line;
  if (!location_ids_.Add(id, location_count())) {
    return Corrupt("location", number, fmt::format("id {} is 0 or taken", id));
  }
  locations_.push_back(to);
  return OkStatus();
}

Location PprofReader::location(uint32_t index) const {
  const LocationEntry& entry = locations_[index];
  return {.mapping = entry.mapping,
          .address = entry.address,
          .is_folded = entry.is_folded,
          .lines = {lines_.data() + entry.first_line, entry.line_count}};
}

Status PprofReader::ReadLabel(std::string_view message, size_t sample_number) {
  int64_t key = 0;
  int64_t text = 0;
  int64_t number = 0;
  int64_t unit = 0;
  auto visit = [&](const WireField& field) {
    if (field.is_bytes) return;
    if (field.number == pprof_field::kKey) key = field.number_value();
    if (field.number == pprof_field::kStr) text = field.number_value();
    if (field.number == pprof_field::kNum) number = field.number_value();
    if (field.number == pprof_field::kNumUnit) unit = field.number_value();
  };
  if (!ForEachField(message, visit)) return NotAMessage("sample", sample_number);
  for (int64_t index : {key, text, unit}) {
    if (!IsString(index)) return NoString(index, "label of sample", sample_number);
  }
  // On the wire the empty text is the same as the number 0 without a unit.
  const bool is_number = text == 0 && (number != 0 || unit != 0);
  labels_.push_back({.key = static_cast<StringId>(key),
                     .string_value = static_cast<StringId>(text),
                     .number = is_number ? number : 0,
                     .unit = is_number ? static_cast<StringId>(unit) : 0,
                     .is_number = is_number ? 1u : 0u});
  return OkStatus();
}

std::string_view PprofReader::SampleMessage(uint32_t index) const {
  WireReader in(raw_.substr(sample_offsets_[index]));
  WireField field;
  CHECK(in.ReadField(&field));  // it went well once
  return field.bytes;
}

Status PprofReader::ReadSample(uint32_t index) {
  const size_t number = size_t{index} + 1;
  ids_.clear();
  values_.clear();
  labels_.clear();
  bool lists = true;
  Status labels = OkStatus();
  auto visit = [&](const WireField& field) {
    if (field.number == pprof_field::kLocationId) lists = AppendNumbers(field, &ids_) && lists;
    if (field.number == pprof_field::kValue) lists = AppendNumbers(field, &values_) && lists;
    if (field.number == pprof_field::kLabel && field.is_bytes && labels) {
      labels = ReadLabel(field.bytes, number);
    }
  };
  if (!ForEachField(SampleMessage(index), visit) || !lists) return NotAMessage("sample", number);
  RETURN_IF_ERROR(std::move(labels));
  const size_t types = meta_.sample_types.size();
  if (types == 0) return Corrupt("sample", number, "the profile has no sample types");
  if (values_.size() != types) {
    return Corrupt("sample", number,
                   fmt::format("{} values for {} sample types", values_.size(), types));
  }
  stack_.resize(ids_.size());
  for (size_t i = 0; i < ids_.size(); ++i) {
    stack_[i] = location_ids_.Find(ids_[i]);
    if (stack_[i] == IdMap::kNone) {
      return Corrupt("sample", number, fmt::format("location {} does not exist", ids_[i]));
    }
  }
  return OkStatus();
}

Sample PprofReader::sample(uint32_t index) {
  CHECK(ReadSample(index));  // it went well once
  return {.locations = stack_, .values = values_, .labels = labels_};
}

}  // namespace firetower::profile
