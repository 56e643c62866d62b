// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/pprof/reader.h"

#include <fmt/core.h>

#include "base/check.h"
#include "profile/codec/pprof/errors.h"
#include "profile/codec/pprof/fields.h"

namespace firetower::profile {

void PprofReader::Clear() {
  meta_ = {};
  sample_types_.clear();
  period_type_ = {};
  comments_.clear();
  default_sample_type_ = doc_url_ = drop_frames_ = keep_frames_ = 0;
  for (auto* list : {&strings_, &mapping_messages_, &function_messages_, &location_messages_}) {
    list->clear();
  }
  sample_offsets_.clear();
  mappings_.clear();
  functions_.clear();
  locations_.clear();
  lines_.clear();
  unnamed_function_ = IdMap::kNone;
  mapping_ids_.Clear();
  function_ids_.Clear();
  location_ids_.Clear();
  losses_ = {};
  string_bytes_ = frame_count_ = 0;
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
    RETURN_IF_ERROR(ReadSample(i, &losses_));
    frame_count_ += stack_.size();
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
    if (field.is_bytes) {
      LeaveOut(field, pprof_field::kHasInlineFrames, &losses_);
      return;
    }
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
        LeaveOut(field, pprof_field::kHasInlineFrames, &losses_);
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
    if (field.is_bytes) {
      LeaveOut(field, pprof_field::kStartLine, &losses_);
      return;
    }
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
        LeaveOut(field, pprof_field::kStartLine, &losses_);
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
    if (field.is_bytes) {
      LeaveOut(field, pprof_field::kColumn, &losses_);
    } else if (field.number == pprof_field::kFunctionIdOfLine) {
      function = field.value;
    } else if (field.number == pprof_field::kLineNumber) {
      line.line = field.number_value();
    } else if (field.number == pprof_field::kColumn) {
      if (field.value > UINT32_MAX) ++losses_.columns;
      line.column = field.value > UINT32_MAX ? 0 : static_cast<uint32_t>(field.value);
    } else {
      LeaveOut(field, pprof_field::kColumn, &losses_);
    }
  };
  if (!ForEachField(message, visit)) return NotAMessage("location", location_number);
  if (lines_.size() >= limits_.max_entries) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("pprof: more than {} lines of locations", limits_.max_entries));
  }
  line.function = function != 0 ? function_ids_.Find(function) : UnnamedFunction();
  if (line.function == IdMap::kNone) {
    return Corrupt("location", location_number,
                   fmt::format("function {} does not exist", function));
  }
  lines_.push_back(line);
  return OkStatus();
}

// Returns the function for lines without one: such a frame has only its address. pprof's graphs
// support such lines, but Go 1.26's reader refuses files with them; it reads the files that we
// write. All functions are read by then, so this one comes after them.
uint32_t PprofReader::UnnamedFunction() {
  if (unnamed_function_ == IdMap::kNone) {
    unnamed_function_ = function_count();
    functions_.emplace_back();
  }
  return unnamed_function_;
}

Status PprofReader::ReadLocation(std::string_view message) {
  const size_t number = locations_.size() + 1;
  LocationEntry to{.first_line = static_cast<uint32_t>(lines_.size())};
  uint64_t id = 0;
  uint64_t mapping_id = 0;
  Status lines = OkStatus();
  auto visit = [&](const WireField& field) {
    if (field.is_bytes) {
      if (field.number != pprof_field::kLine) LeaveOut(field, pprof_field::kIsFolded, &losses_);
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
        LeaveOut(field, pprof_field::kIsFolded, &losses_);
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

Status PprofReader::ReadLabel(std::string_view message, size_t sample_number, PprofLosses* losses) {
  int64_t key = 0;
  int64_t text = 0;
  int64_t number = 0;
  int64_t unit = 0;
  auto visit = [&](const WireField& field) {
    if (field.is_bytes) {
      LeaveOut(field, pprof_field::kNumUnit, losses);
    } else if (field.number == pprof_field::kKey) {
      key = field.number_value();
    } else if (field.number == pprof_field::kStr) {
      text = field.number_value();
    } else if (field.number == pprof_field::kNum) {
      number = field.number_value();
    } else if (field.number == pprof_field::kNumUnit) {
      unit = field.number_value();
    } else {
      LeaveOut(field, pprof_field::kNumUnit, losses);
    }
  };
  if (!ForEachField(message, visit)) return NotAMessage("sample", sample_number);
  for (int64_t index : {key, text, unit}) {
    if (!IsString(index)) return NoString(index, "label of sample", sample_number);
  }
  // On the wire the empty text is the same as the number 0 without a unit.
  const bool is_number = text == 0 && (number != 0 || unit != 0);
  if (text != 0 && (number != 0 || unit != 0)) ++losses->label_numbers;
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

Status PprofReader::ReadSample(uint32_t index, PprofLosses* losses) {
  const size_t number = size_t{index} + 1;
  ids_.clear();
  values_.clear();
  labels_.clear();
  bool lists = true;
  Status labels = OkStatus();
  auto visit = [&](const WireField& field) {
    if (field.number == pprof_field::kLocationId) {
      lists = AppendNumbers(field, &ids_) && lists;
    } else if (field.number == pprof_field::kValue) {
      lists = AppendNumbers(field, &values_) && lists;
    } else if (field.number == pprof_field::kLabel && field.is_bytes) {
      if (labels) labels = ReadLabel(field.bytes, number, losses);
    } else {
      LeaveOut(field, pprof_field::kLabel, losses);
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
  PprofLosses counted;                 // when it was checked
  CHECK(ReadSample(index, &counted));  // it went well once
  return {.locations = stack_, .values = values_, .labels = labels_};
}

}  // namespace firetower::profile
