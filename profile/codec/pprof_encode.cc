// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/json.h"
#include "profile/codec/gzip.h"
#include "profile/codec/profile.pb.h"
#include "profile/pprof.h"

namespace firetower::profile {
namespace {

// Writes through one reused message of a few hundred entries: messages written one after the other
// are their concatenation (protobuf's merge rule), and the peak stays at the file plus one chunk.
class Encoder {
 public:
  explicit Encoder(const Profile& profile) : profile_(profile) {
    // Texts of Meta get ids behind the profile's own.
    next_string_ = profile.string_count();
  }

  std::string Encode() {
    out_.reserve(profile_.bytes());  // about: ids take fewer bytes on the wire, tags some more
    AddMeta();
    for (uint32_t i = 0; i < profile_.sample_count(); ++i) AddSample(i);
    for (uint32_t i = 0; i < profile_.mapping_count(); ++i) AddMapping(i);
    for (uint32_t i = 0; i < profile_.location_count(); ++i) AddLocation(i);
    for (uint32_t i = 0; i < profile_.function_count(); ++i) AddFunction(i);
    // Texts last, those of Meta at their end: a file cut anywhere then has indices that lead
    // nowhere.
    Flush();
    for (uint32_t i = 0; i < profile_.string_count(); ++i) AddString(profile_.string(i));
    for (const std::string& text : meta_strings_) AddString(text);
    Flush();
    return std::move(out_);
  }

 private:
  static constexpr int kChunkEntries = 512;

  void Flush() {
    chunk_.AppendToString(&out_);
    chunk_.Clear();
    pending_ = 0;
  }
  void EntryDone() {
    if (++pending_ >= kChunkEntries) Flush();
  }

  int64_t MetaString(const std::string& raw) {
    if (raw.empty()) return 0;
    std::string text = ToValidUtf8(raw);
    for (size_t i = 0; i < meta_strings_.size(); ++i) {
      if (meta_strings_[i] == text) return next_string_ + static_cast<int64_t>(i);
    }
    meta_strings_.push_back(text);
    return next_string_ + static_cast<int64_t>(meta_strings_.size()) - 1;
  }

  void SetValueType(const ValueType& from, wire::ValueType* to) {
    to->set_type(MetaString(from.type));
    to->set_unit(MetaString(from.unit));
  }

  void AddMeta() {
    const Meta& meta = profile_.meta();
    for (const ValueType& type : meta.sample_types) SetValueType(type, chunk_.add_sample_type());
    if (meta.period_type != ValueType{})
      SetValueType(meta.period_type, chunk_.mutable_period_type());
    chunk_.set_period(meta.period);
    chunk_.set_time_nanos(meta.time_nanos);
    chunk_.set_duration_nanos(meta.duration_nanos);
    chunk_.set_default_sample_type(MetaString(meta.default_sample_type));
    chunk_.set_doc_url(MetaString(meta.doc_url));
    chunk_.set_drop_frames(MetaString(meta.drop_frames));
    chunk_.set_keep_frames(MetaString(meta.keep_frames));
    for (const std::string& comment : meta.comments) chunk_.add_comment(MetaString(comment));
  }

  void AddSample(uint32_t index) {
    Sample from = profile_.sample(index);
    wire::Sample* to = chunk_.add_sample();
    to->mutable_location_id()->Reserve(static_cast<int>(from.locations.size()));
    for (uint32_t location : from.locations) to->add_location_id(uint64_t{location} + 1);
    for (int64_t value : from.values) to->add_value(value);
    for (const Label& label : from.labels) {
      wire::Label* out = to->add_label();
      out->set_key(label.key);
      if (label.is_number != 0) {
        out->set_num(label.number);
        out->set_num_unit(label.unit);
      } else {
        out->set_str(label.string_value);
      }
    }
    EntryDone();
  }

  void AddMapping(uint32_t index) {
    const Mapping& from = profile_.mapping(index);
    wire::Mapping* to = chunk_.add_mapping();
    to->set_id(uint64_t{index} + 1);
    to->set_memory_start(from.memory_start);
    to->set_memory_limit(from.memory_limit);
    to->set_file_offset(from.file_offset);
    to->set_filename(from.filename);
    to->set_build_id(from.build_id);
    to->set_has_functions((from.flags & Mapping::kHasFunctions) != 0);
    to->set_has_filenames((from.flags & Mapping::kHasFilenames) != 0);
    to->set_has_line_numbers((from.flags & Mapping::kHasLineNumbers) != 0);
    to->set_has_inline_frames((from.flags & Mapping::kHasInlineFrames) != 0);
    EntryDone();
  }

  void AddLocation(uint32_t index) {
    Location from = profile_.location(index);
    wire::Location* to = chunk_.add_location();
    to->set_id(uint64_t{index} + 1);
    to->set_mapping_id(from.mapping == kNoMapping ? 0 : uint64_t{from.mapping} + 1);
    to->set_address(from.address);
    to->set_is_folded(from.is_folded);
    for (const Line& line : from.lines) {
      wire::Line* out = to->add_line();
      out->set_function_id(uint64_t{line.function} + 1);
      out->set_line(line.line);
      out->set_column(line.column);
    }
    EntryDone();
  }

  void AddFunction(uint32_t index) {
    const Function& from = profile_.function(index);
    wire::Function* to = chunk_.add_function();
    to->set_id(uint64_t{index} + 1);
    to->set_name(from.name);
    to->set_system_name(from.system_name);
    to->set_filename(from.filename);
    to->set_start_line(from.start_line);
    EntryDone();
  }

  void AddString(std::string_view text) {
    chunk_.add_string_table(text.data(), text.size());
    EntryDone();
  }

  const Profile& profile_;
  wire::Profile chunk_;
  int pending_ = 0;
  std::string out_;
  int64_t next_string_ = 0;
  std::vector<std::string> meta_strings_;  // a handful: types, units, comments
};

}  // namespace

std::string EncodePprof(const Profile& profile, const PprofEncodeOptions& options) {
  std::string raw = Encoder(profile).Encode();
  return options.gzip ? GzipCompress(raw, options.level) : raw;
}

}  // namespace firetower::profile
