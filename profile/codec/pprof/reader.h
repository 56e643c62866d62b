// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/codec/pprof/id_map.h"
#include "profile/codec/pprof/wire.h"
#include "profile/pprof.h"
#include "profile/profile.h"

namespace firetower::profile {

// Returns the message in `bytes`. If it is gzip'd, it is inflated into `*inflated`.
Result<std::string_view> InflatePprof(std::string_view bytes, const PprofDecodeLimits& limits,
                                      std::string* inflated);

// The tables of a raw pprof message. It has the accessors of a Profile, so that the same code can
// copy both into a builder (profile/copy.h). Indices are those of the file; strings point into the
// file and may not be UTF-8. Samples, the bulk of a file, are checked once and decoded again at
// each access. May be used for several files in turn, which saves allocations.
class PprofReader {
 public:
  // Reads a message. `raw` must outlive all later calls. Fails as DecodePprof does; after an error
  // no accessor may be called.
  Status Read(std::string_view raw, const PprofDecodeLimits& limits);

  const Meta& meta() const { return meta_; }
  uint32_t string_count() const { return static_cast<uint32_t>(strings_.size()); }
  uint32_t mapping_count() const { return static_cast<uint32_t>(mappings_.size()); }
  uint32_t function_count() const { return static_cast<uint32_t>(functions_.size()); }
  uint32_t location_count() const { return static_cast<uint32_t>(locations_.size()); }
  uint32_t sample_count() const { return static_cast<uint32_t>(sample_offsets_.size()); }

  std::string_view string(StringId id) const { return strings_[id]; }
  const Mapping& mapping(uint32_t index) const { return mappings_[index]; }
  const Function& function(uint32_t index) const { return functions_[index]; }
  Location location(uint32_t index) const;
  // Returns a sample. Valid until the next call.
  Sample sample(uint32_t index);

  // Counts the parts of the file that the accessors do not return.
  PprofLosses FindLosses() const;

  // The sums over all strings and all stacks.
  size_t string_bytes() const { return string_bytes_; }
  size_t frame_count() const { return frame_count_; }

 private:
  struct LocationEntry {
    uint64_t address = 0;
    uint32_t mapping = kNoMapping;
    uint32_t first_line = 0;
    uint32_t line_count = 0;
    bool is_folded = false;
  };
  struct TypeEntry {
    int64_t type = 0;
    int64_t unit = 0;
  };

  void Clear();
  Status ReadHead(const WireField& field);
  Status KeepSample(const WireField& field);
  Status Keep(const WireField& field, std::string_view kind, std::vector<std::string_view>* list);
  Error EntryError(const WireField& field, std::string_view kind, size_t number) const;
  Status KeepString(const WireField& field);
  Status ReadType(const WireField& field, std::string_view kind, size_t number, TypeEntry* type);
  Status ReadComments(const WireField& field);
  Status ResolveMeta();
  Result<std::string> Text(int64_t index, std::string_view kind, size_t number) const;
  Result<ValueType> ResolveType(const TypeEntry& entry, std::string_view kind, size_t number) const;
  Status ReadMapping(std::string_view message);
  Status ReadFunction(std::string_view message);
  Status ReadLocation(std::string_view message);
  Status ReadLine(std::string_view message, size_t location_number);
  uint32_t UnnamedFunction();
  std::string_view SampleMessage(uint32_t index) const;
  Status ReadSample(uint32_t index, PprofLosses* losses);
  Status ReadLabel(std::string_view message, size_t sample_number, PprofLosses* losses);

  // Counts a field that is not read. The message's known fields have the numbers 1 to `last`.
  static void LeaveOut(const WireField& field, uint32_t last, PprofLosses* losses);

  bool IsString(int64_t index) const {
    return index >= 0 && static_cast<uint64_t>(index) < strings_.size();
  }
  Error NoString(int64_t index, std::string_view kind, size_t number) const;

  PprofDecodeLimits limits_;
  std::string_view raw_;
  Meta meta_;
  // The header fields of the file, not yet resolved: texts are indices.
  std::vector<TypeEntry> sample_types_;
  TypeEntry period_type_;
  std::vector<uint64_t> comments_;
  int64_t default_sample_type_ = 0;
  int64_t doc_url_ = 0;
  int64_t drop_frames_ = 0;
  int64_t keep_frames_ = 0;

  std::vector<std::string_view> strings_;
  std::vector<std::string_view> mapping_messages_;
  std::vector<std::string_view> function_messages_;
  std::vector<std::string_view> location_messages_;
  // There are many samples, so only the position of each one's field in raw_ is stored.
  std::vector<uint32_t> sample_offsets_;
  size_t field_offset_ = 0;  // of the field that is being read
  std::vector<Mapping> mappings_;
  std::vector<Function> functions_;
  std::vector<LocationEntry> locations_;
  std::vector<Line> lines_;
  uint32_t unnamed_function_ = IdMap::kNone;  // of lines that name no function, once there is one
  IdMap mapping_ids_;
  IdMap function_ids_;
  IdMap location_ids_;
  PprofLosses losses_;  // all but texts; samples count when they are checked
  size_t string_bytes_ = 0;
  size_t frame_count_ = 0;
  // The sample that was read last.
  std::vector<uint64_t> ids_;
  std::vector<uint32_t> stack_;
  std::vector<int64_t> values_;
  std::vector<Label> labels_;
};

}  // namespace firetower::profile
