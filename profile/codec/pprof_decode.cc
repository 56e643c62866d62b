// SPDX-License-Identifier: Apache-2.0
// Reads a profile in four passes over the raw bytes, since entries may refer forward: texts and
// scalars, then mappings and functions, then locations, then samples. Only one entry is ever held
// as a message, so the memory is that of the result.
#include <fmt/core.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/builder.h"
#include "profile/codec/gzip.h"
#include "profile/codec/profile.pb.h"
#include "profile/codec/wire_walk.h"
#include "profile/pprof.h"

namespace firetower::profile {
namespace {

enum Field : int {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kString = 6,
  kDropFrames = 7,
  kKeepFrames = 8,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
  kDocUrl = 15,
};

// A thousand frames with labels are below 20 KiB; the bound keeps one entry's message small.
constexpr size_t kMaxEntryBytes = 1 << 20;
constexpr int kMaxSampleTypes = 64;
constexpr int kMaxComments = 4096;

// Ids of the file to indices of ours. Writers number from 1 upwards, so most lie in the array.
class IdMap {
 public:
  // False when the id is 0 or taken.
  bool Add(uint64_t id, uint32_t index) {
    if (id == 0 || Find(id) != IdSet::kNone) return false;
    if (id > kMaxDense) return sparse_.emplace(id, index).second;
    if (id >= dense_.size()) dense_.resize(id + 1, IdSet::kNone);
    dense_[id] = index;
    ++count_;
    return true;
  }
  uint32_t Find(uint64_t id) const {
    if (id < dense_.size()) return dense_[id];
    auto found = sparse_.find(id);
    return found == sparse_.end() ? IdSet::kNone : found->second;
  }
  size_t size() const { return count_ + sparse_.size(); }

 private:
  static constexpr uint64_t kMaxDense = 1 << 20;
  std::vector<uint32_t> dense_;
  std::unordered_map<uint64_t, uint32_t> sparse_;
  size_t count_ = 0;
};

class Decoder {
 public:
  Decoder(std::string_view raw, const PprofDecodeLimits& limits)
      : raw_(raw),
        limits_(limits),
        builder_(Meta{}, {.max_samples = limits.max_entries,
                          .max_bytes = std::numeric_limits<size_t>::max()}) {}

  Result<Profile> Decode() {
    RETURN_IF_ERROR(WalkFields(raw_, [this](const WireField& field) { return Head(field); }));
    RETURN_IF_ERROR(ResolveMeta());
    auto seen = [this](Field field) { return std::min<size_t>(seen_[field], limits_.max_entries); };
    builder_.Reserve(strings_.size(), seen(kFunction), seen(kLocation), seen(kSample));
    RETURN_IF_ERROR(WalkFields(raw_, [this](const WireField& field) -> Status {
      if (field.number == kMapping) return AddMapping(field);
      if (field.number == kFunction) return AddFunction(field);
      return OkStatus();
    }));
    RETURN_IF_ERROR(WalkFields(raw_, [this](const WireField& field) {
      return field.number == kLocation ? AddLocation(field) : OkStatus();
    }));
    RETURN_IF_ERROR(WalkFields(raw_, [this](const WireField& field) {
      return field.number == kSample ? AddSample(field) : OkStatus();
    }));
    return std::move(builder_).Build();
  }

 private:
  Error Corrupt(std::string_view kind, size_t number, std::string_view why) const {
    return {ErrorCode::kCorrupt, fmt::format("pprof: {} {}: {}", kind, number, why)};
  }

  template <typename Message>
  Status Parse(const WireField& field, std::string_view kind, size_t number, Message* message) {
    if (number > limits_.max_entries) {
      return Error(ErrorCode::kExhausted, fmt::format("pprof: more than {} entries of kind {}",
                                                      limits_.max_entries, kind));
    }
    if (field.bytes.size() > kMaxEntryBytes) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("pprof: {} {} has {} bytes, more than the limit of {}", kind, number,
                               field.bytes.size(), kMaxEntryBytes));
    }
    if (!field.is_bytes ||
        !message->ParseFromArray(field.bytes.data(), static_cast<int>(field.bytes.size()))) {
      return Corrupt(kind, number, "not a valid message");
    }
    return OkStatus();
  }

  Result<StringId> String(int64_t index, std::string_view kind, size_t number) const {
    if (index >= 0 && static_cast<uint64_t>(index) < strings_.size()) {
      return strings_[static_cast<size_t>(index)];
    }
    return Corrupt(
        kind, number,
        fmt::format("string index {} is outside the table of {}", index, strings_.size()));
  }

  // Pass 1.
  Status Head(const WireField& field) {
    auto value = static_cast<int64_t>(field.number_value);
    switch (field.number) {
      case kSample:
      case kLocation:
      case kFunction:
        ++seen_[field.number];
        return OkStatus();
      case kString:
        return AddString(field);
      case kSampleType:
        if (head_.sample_type_size() >= kMaxSampleTypes) {
          return Error(ErrorCode::kExhausted,
                       fmt::format("pprof: more than {} sample types", kMaxSampleTypes));
        }
        return Parse(field, "sample type", 0, head_.add_sample_type());
      case kPeriodType:
        return Parse(field, "period type", 0, head_.mutable_period_type());
      case kComment:
        return AddComments(field);
      case kDropFrames:
        head_.set_drop_frames(value);
        break;
      case kKeepFrames:
        head_.set_keep_frames(value);
        break;
      case kTimeNanos:
        head_.set_time_nanos(value);
        break;
      case kDurationNanos:
        head_.set_duration_nanos(value);
        break;
      case kPeriod:
        head_.set_period(value);
        break;
      case kDefaultSampleType:
        head_.set_default_sample_type(value);
        break;
      case kDocUrl:
        head_.set_doc_url(value);
        break;
      default:
        break;
    }
    return OkStatus();
  }

  Status AddString(const WireField& field) {
    if (!field.is_bytes) return Corrupt("string", strings_.size(), "not a text");
    if (strings_.empty() && !field.bytes.empty()) {
      return Corrupt("string", 0, "the first one must be empty");
    }
    if (strings_.size() >= limits_.max_entries) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("pprof: more than {} strings", limits_.max_entries));
    }
    strings_.push_back(builder_.AddString(field.bytes));
    return OkStatus();
  }

  // Comments come one by one or packed (protobuf allows both).
  Status AddComments(const WireField& field) {
    if (field.is_bytes) {
      google::protobuf::io::CodedInputStream in(
          reinterpret_cast<const uint8_t*>(field.bytes.data()),
          static_cast<int>(field.bytes.size()));
      uint64_t index = 0;
      while (in.CurrentPosition() < static_cast<int>(field.bytes.size())) {
        if (!in.ReadVarint64(&index)) return Corrupt("comment", 0, "broken list");
        RETURN_IF_ERROR(AddComment(static_cast<int64_t>(index)));
      }
      return OkStatus();
    }
    return AddComment(static_cast<int64_t>(field.number_value));
  }
  Status AddComment(int64_t index) {
    if (head_.comment_size() >= kMaxComments) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("pprof: more than {} comments", kMaxComments));
    }
    head_.add_comment(index);
    return OkStatus();
  }

  Result<std::string> Text(int64_t index, std::string_view kind, size_t number = 0) {
    if (index == 0 && strings_.empty()) return std::string();
    ASSIGN_OR_RETURN(StringId id, String(index, kind, number));
    return std::string(builder_.string(id));
  }
  Result<ValueType> Type(const wire::ValueType& from, std::string_view kind, size_t number) {
    ASSIGN_OR_RETURN(std::string type, Text(from.type(), kind, number));
    ASSIGN_OR_RETURN(std::string unit, Text(from.unit(), kind, number));
    return ValueType{std::move(type), std::move(unit)};
  }

  Status ResolveMeta() {
    if (strings_.empty()) strings_.push_back(builder_.AddString(""));
    Meta& meta = builder_.meta();
    for (const wire::ValueType& type : head_.sample_type()) {
      ASSIGN_OR_RETURN(ValueType resolved, Type(type, "sample type", meta.sample_types.size() + 1));
      meta.sample_types.push_back(std::move(resolved));
    }
    ASSIGN_OR_RETURN(meta.period_type, Type(head_.period_type(), "period type", 1));
    ASSIGN_OR_RETURN(meta.default_sample_type,
                     Text(head_.default_sample_type(), "default sample type"));
    ASSIGN_OR_RETURN(meta.doc_url, Text(head_.doc_url(), "doc url"));
    ASSIGN_OR_RETURN(meta.drop_frames, Text(head_.drop_frames(), "drop frames"));
    ASSIGN_OR_RETURN(meta.keep_frames, Text(head_.keep_frames(), "keep frames"));
    for (int64_t comment : head_.comment()) {
      ASSIGN_OR_RETURN(std::string text, Text(comment, "comment", meta.comments.size() + 1));
      meta.comments.push_back(std::move(text));
    }
    meta.period = head_.period();
    meta.time_nanos = head_.time_nanos();
    meta.duration_nanos = head_.duration_nanos();
    return OkStatus();
  }

  // Pass 2.
  Status AddMapping(const WireField& field) {
    size_t number = mapping_ids_.size() + 1;
    RETURN_IF_ERROR(Parse(field, "mapping", number, &mapping_));
    Mapping to{.memory_start = mapping_.memory_start(),
               .memory_limit = mapping_.memory_limit(),
               .file_offset = mapping_.file_offset()};
    ASSIGN_OR_RETURN(to.filename, String(mapping_.filename(), "mapping", number));
    ASSIGN_OR_RETURN(to.build_id, String(mapping_.build_id(), "mapping", number));
    if (mapping_.has_functions()) to.flags |= Mapping::kHasFunctions;
    if (mapping_.has_filenames()) to.flags |= Mapping::kHasFilenames;
    if (mapping_.has_line_numbers()) to.flags |= Mapping::kHasLineNumbers;
    if (mapping_.has_inline_frames()) to.flags |= Mapping::kHasInlineFrames;
    if (!mapping_ids_.Add(mapping_.id(), builder_.AddMapping(to))) {
      return Corrupt("mapping", number, fmt::format("id {} is 0 or taken", mapping_.id()));
    }
    return OkStatus();
  }

  Status AddFunction(const WireField& field) {
    size_t number = function_ids_.size() + 1;
    RETURN_IF_ERROR(Parse(field, "function", number, &function_));
    Function to{.start_line = function_.start_line()};
    ASSIGN_OR_RETURN(to.name, String(function_.name(), "function", number));
    ASSIGN_OR_RETURN(to.system_name, String(function_.system_name(), "function", number));
    ASSIGN_OR_RETURN(to.filename, String(function_.filename(), "function", number));
    if (!function_ids_.Add(function_.id(), builder_.AddFunction(to))) {
      return Corrupt("function", number, fmt::format("id {} is 0 or taken", function_.id()));
    }
    return OkStatus();
  }

  // Pass 3.
  Status AddLocation(const WireField& field) {
    size_t number = location_ids_.size() + 1;
    RETURN_IF_ERROR(Parse(field, "location", number, &location_));
    uint32_t mapping = kNoMapping;
    if (location_.mapping_id() != 0) {
      mapping = mapping_ids_.Find(location_.mapping_id());
      if (mapping == IdSet::kNone) {
        return Corrupt("location", number,
                       fmt::format("mapping {} does not exist", location_.mapping_id()));
      }
    }
    lines_.clear();
    for (const wire::Line& line : location_.line()) {
      uint32_t function = function_ids_.Find(line.function_id());
      if (function == IdSet::kNone) {
        return Corrupt("location", number,
                       fmt::format("function {} does not exist", line.function_id()));
      }
      lines_.push_back({.function = function,
                        .column = static_cast<uint32_t>(line.column()),
                        .line = line.line()});
    }
    uint32_t index =
        builder_.AddLocation(mapping, location_.address(), lines_, location_.is_folded());
    if (!location_ids_.Add(location_.id(), index)) {
      return Corrupt("location", number, fmt::format("id {} is 0 or taken", location_.id()));
    }
    return OkStatus();
  }

  // Pass 4.
  Status AddSample(const WireField& field) {
    size_t number = ++samples_;
    RETURN_IF_ERROR(Parse(field, "sample", number, &sample_));
    size_t types = builder_.meta().sample_types.size();
    if (types == 0) return Corrupt("sample", number, "the profile has no sample types");
    if (static_cast<size_t>(sample_.value_size()) != types) {
      return Corrupt("sample", number,
                     fmt::format("{} values for {} sample types", sample_.value_size(), types));
    }
    stack_.clear();
    for (uint64_t id : sample_.location_id()) {
      stack_.push_back(location_ids_.Find(id));
      if (stack_.back() == IdSet::kNone) {
        return Corrupt("sample", number, fmt::format("location {} does not exist", id));
      }
    }
    labels_.clear();
    for (const wire::Label& from : sample_.label()) {
      Label to{.number = from.num(), .is_number = from.str() == 0 ? 1u : 0u};
      ASSIGN_OR_RETURN(to.key, String(from.key(), "label of sample", number));
      ASSIGN_OR_RETURN(to.string_value, String(from.str(), "label of sample", number));
      ASSIGN_OR_RETURN(to.unit, String(from.num_unit(), "label of sample", number));
      // On the wire the empty text is the same as the number 0 without a unit.
      if (to.number == 0 && to.unit == 0) to.is_number = 0;
      if (to.is_number == 0) to.number = 0, to.unit = 0;
      labels_.push_back(to);
    }
    std::span<const int64_t> values(sample_.value().data(), types);
    if (!builder_.AddSample(stack_, values, labels_)) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("pprof: more than {} samples", limits_.max_entries));
    }
    return OkStatus();
  }

  std::string_view raw_;
  PprofDecodeLimits limits_;
  ProfileBuilder builder_;
  wire::Profile head_;
  std::vector<StringId> strings_;  // index in the file -> ours
  IdMap mapping_ids_;
  IdMap function_ids_;
  IdMap location_ids_;
  size_t seen_[kDocUrl + 1] = {};  // entries of each kind
  size_t samples_ = 0;
  // Reused for each entry.
  wire::Mapping mapping_;
  wire::Function function_;
  wire::Location location_;
  wire::Sample sample_;
  std::vector<Line> lines_;
  std::vector<uint32_t> stack_;
  std::vector<Label> labels_;
};

}  // namespace

Result<Profile> DecodePprof(std::string_view bytes, const PprofDecodeLimits& limits) {
  // protobuf counts bytes in int.
  size_t max_bytes = std::min<size_t>(limits.max_inflated_bytes, std::numeric_limits<int>::max());
  std::string inflated;
  if (IsGzip(bytes)) {
    ASSIGN_OR_RETURN(inflated, GzipDecompress(bytes, max_bytes));
    bytes = inflated;
  }
  if (bytes.size() > max_bytes) {
    return Error(ErrorCode::kExhausted, fmt::format("pprof: {} bytes, more than the limit of {}",
                                                    bytes.size(), max_bytes));
  }
  if (bytes.empty()) return Error(ErrorCode::kCorrupt, "pprof: empty file");
  return Decoder(bytes, limits).Decode();
}

}  // namespace firetower::profile
