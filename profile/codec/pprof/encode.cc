// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "profile/codec/gzip_writer.h"
#include "profile/codec/pprof/fields.h"
#include "profile/codec/pprof/location_order.h"
#include "profile/codec/pprof/sample_order.h"
#include "profile/codec/pprof/wire_writer.h"
#include "profile/pprof.h"

namespace firetower::profile {
namespace {

// So much is written before it is compressed: the whole of a large profile never lies there.
constexpr size_t kPieceBytes = size_t{64} << 10;

// Above this size the file's memory is reserved at once. Unused pages of it are never touched.
constexpr size_t kLargeBytes = size_t{1} << 20;

// Writes each entry into one buffer that is used again, then behind the others.
class Encoder {
 public:
  // `gzip` takes the bytes piece by piece; nullptr: they are kept as they are.
  // `order` receives the order of the samples, if it is not null.
  Encoder(const Profile& profile, GzipWriter* gzip, std::vector<uint32_t>* order)
      : profile_(profile), gzip_(gzip), order_(order) {}

  // Returns the bytes that `gzip` has not taken.
  std::string Encode() {
    // About: ids take fewer bytes on the wire, tags some more.
    out_.reserve(gzip_ != nullptr ? std::min(profile_.bytes(), kPieceBytes) : profile_.bytes());
    AddMeta();
    const std::vector<uint32_t> locations = LocationOrder(profile_);
    location_ids_.resize(locations.size());
    for (uint32_t i = 0; i < locations.size(); ++i) location_ids_[locations[i]] = i + 1;
    std::vector<uint32_t> samples = SampleOrder(profile_);
    for (const uint32_t i : samples) AddSample(profile_.sample(i));
    if (order_ != nullptr) *order_ = std::move(samples);
    for (uint32_t i = 0; i < profile_.mapping_count(); ++i) AddMapping(i);
    for (const uint32_t i : locations) AddLocation(i);
    for (uint32_t i = 0; i < profile_.function_count(); ++i) AddFunction(i);
    // Texts last, those of Meta at their end: a file cut anywhere then has indices that lead
    // nowhere.
    for (uint32_t i = 0; i < profile_.string_count(); ++i) AddString(profile_.string(i));
    for (const std::string& text : meta_strings_) AddString(text);
    return std::move(out_);
  }

 private:
  // The fields of the entry so far become a field of the profile.
  void EntryDone(uint32_t field) {
    entry_.MoveTo(&out_, field);
    PieceDone();
  }
  void PieceDone() {
    if (gzip_ == nullptr || out_.size() < kPieceBytes) return;
    gzip_->Append(out_);
    out_.clear();
  }

  // Texts of Meta have ids behind the profile's own.
  uint64_t MetaString(const std::string& raw) {
    if (raw.empty()) return 0;
    std::string text = ToValidUtf8(raw);
    size_t i = 0;
    while (i < meta_strings_.size() && meta_strings_[i] != text) ++i;
    if (i == meta_strings_.size()) meta_strings_.push_back(std::move(text));
    return uint64_t{profile_.string_count()} + i;
  }

  void AddValueType(uint32_t field, const ValueType& type) {
    entry_.Number(pprof_field::kType, MetaString(type.type));
    entry_.Number(pprof_field::kUnit, MetaString(type.unit));
    EntryDone(field);
  }

  void AddMeta() {
    const Meta& meta = profile_.meta();
    for (const ValueType& type : meta.sample_types) AddValueType(pprof_field::kSampleType, type);
    if (meta.period_type != ValueType{}) {
      AddValueType(pprof_field::kPeriodType, meta.period_type);
    }
    std::vector<uint64_t> comments;
    for (const std::string& comment : meta.comments) comments.push_back(MetaString(comment));
    own_.Clear();
    own_.Number(pprof_field::kDropFrames, MetaString(meta.drop_frames));
    own_.Number(pprof_field::kKeepFrames, MetaString(meta.keep_frames));
    own_.Number(pprof_field::kTimeNanos, meta.time_nanos);
    own_.Number(pprof_field::kDurationNanos, meta.duration_nanos);
    own_.Number(pprof_field::kPeriod, meta.period);
    own_.Packed(pprof_field::kComment, comments.size(), [&](size_t i) { return comments[i]; });
    own_.Number(pprof_field::kDefaultSampleType, MetaString(meta.default_sample_type));
    own_.Number(pprof_field::kDocUrl, MetaString(meta.doc_url));
    out_.append(own_.bytes());
  }

  void AddSample(const Sample& from) {
    // Values repeat, and what follows them does with them: gzip finds one match more.
    entry_.Packed(pprof_field::kValue, from.values.size(),
                  [&](size_t i) { return from.values[i]; });
    entry_.Packed(pprof_field::kLocationId, from.locations.size(),
                  [&](size_t i) { return uint64_t{location_ids_[from.locations[i]]}; });
    for (const Label& label : from.labels) {
      part_.Clear();
      part_.Number(pprof_field::kKey, label.key);
      if (label.is_number != 0) {
        part_.Number(pprof_field::kNum, label.number);
        part_.Number(pprof_field::kNumUnit, label.unit);
      } else {
        part_.Number(pprof_field::kStr, label.string_value);
      }
      entry_.Bytes(pprof_field::kLabel, part_.bytes());
    }
    EntryDone(pprof_field::kSample);
  }

  void AddMapping(uint32_t index) {
    const Mapping& from = profile_.mapping(index);
    auto flag = [&](Mapping::Flags bit) { return (from.flags & bit) != 0; };
    entry_.Number(pprof_field::kMappingId, uint64_t{index} + 1);
    entry_.Number(pprof_field::kMemoryStart, from.memory_start);
    entry_.Number(pprof_field::kMemoryLimit, from.memory_limit);
    entry_.Number(pprof_field::kFileOffset, from.file_offset);
    entry_.Number(pprof_field::kMappingFilename, from.filename);
    entry_.Number(pprof_field::kBuildId, from.build_id);
    entry_.Number(pprof_field::kHasFunctions, flag(Mapping::kHasFunctions));
    entry_.Number(pprof_field::kHasFilenames, flag(Mapping::kHasFilenames));
    entry_.Number(pprof_field::kHasLineNumbers, flag(Mapping::kHasLineNumbers));
    entry_.Number(pprof_field::kHasInlineFrames, flag(Mapping::kHasInlineFrames));
    EntryDone(pprof_field::kMapping);
  }

  void AddLocation(uint32_t index) {
    Location from = profile_.location(index);
    entry_.Number(pprof_field::kLocationOwnId, uint64_t{location_ids_[index]});
    if (from.mapping != kNoMapping) {
      entry_.Number(pprof_field::kMappingIdOfLocation, uint64_t{from.mapping} + 1);
    }
    entry_.Number(pprof_field::kLocationAddress, from.address);
    for (const Line& line : from.lines) {
      part_.Clear();
      part_.Number(pprof_field::kFunctionIdOfLine, uint64_t{line.function} + 1);
      part_.Number(pprof_field::kLineNumber, line.line);
      part_.Number(pprof_field::kColumn, line.column);
      entry_.Bytes(pprof_field::kLine, part_.bytes());
    }
    entry_.Number(pprof_field::kIsFolded, from.is_folded);
    EntryDone(pprof_field::kLocation);
  }

  void AddFunction(uint32_t index) {
    const Function& from = profile_.function(index);
    entry_.Number(pprof_field::kFunctionOwnId, uint64_t{index} + 1);
    entry_.Number(pprof_field::kName, from.name);
    entry_.Number(pprof_field::kSystemName, from.system_name);
    entry_.Number(pprof_field::kFilename, from.filename);
    entry_.Number(pprof_field::kStartLine, from.start_line);
    EntryDone(pprof_field::kFunction);
  }

  void AddString(std::string_view text) {
    own_.Clear();
    own_.Bytes(pprof_field::kString, text);
    out_.append(own_.bytes());
    PieceDone();
  }

  const Profile& profile_;
  GzipWriter* gzip_;
  std::vector<uint32_t>* order_;
  std::string out_;
  std::vector<uint32_t> location_ids_;     // by index
  WireWriter entry_;                       // fields of the entry that is being written
  WireWriter part_;                        // of a message inside it
  WireWriter own_;                         // fields of the profile itself
  std::vector<std::string> meta_strings_;  // a handful: types, units, comments
};

}  // namespace

std::string EncodePprof(const Profile& profile, const PprofEncodeOptions& options) {
  if (!options.gzip) return Encoder(profile, nullptr, options.order).Encode();
  // A file is a third of its profile, or less.
  GzipWriter gzip(profile.bytes() < kLargeBytes ? 0 : profile.bytes() / 2);
  gzip.Append(Encoder(profile, &gzip, options.order).Encode());
  return std::move(gzip).Finish();
}

}  // namespace firetower::profile
