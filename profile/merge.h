// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "profile/builder.h"
#include "profile/comments.h"
#include "profile/pprof.h"
#include "profile/profile.h"

namespace firetower::profile {

class PprofReader;
struct MovedMapping;

// Adds up profiles one at a time, so that only the sum is in memory. Sample types and period type
// must agree. A binary that is mapped at different addresses (by two processes) becomes one
// mapping, identified by build id, else by file name, offset and size; its addresses are moved. The
// result spans from the first start to the last end if all starts are known. For comments see
// profile/comments.h.
class Merger {
 public:
  explicit Merger(ProfileBuilder::Limits limits = {});
  ~Merger();

  // Adds a profile. kInvalid: the types differ; the message names both, and the sum is unchanged.
  // kExhausted: the sum passes its limits and is incomplete.
  Status Add(const Profile& profile);
  // Adds a pprof file without an intermediate Profile, in half the time and memory. Fails also as
  // DecodePprof does; the sum is then unchanged.
  Status AddPprof(std::string_view bytes, const PprofDecodeLimits& limits = {});
  // The two steps of AddPprof, for callers that treat unreadable files differently from files that
  // cannot be added. AddRead must follow a successful ReadPprof, with `bytes` unchanged.
  Status ReadPprof(std::string_view bytes, const PprofDecodeLimits& limits = {});
  Status AddRead();

  // Leaves labels of these keys out of what is added from now on, so that samples that differ in
  // them alone become one.
  void LeaveOutLabels(std::vector<std::string> keys) { left_out_ = std::move(keys); }

  // Leaves values of a moment (IsLevel) out of what is added from now on, or takes them again.
  void LeaveOutLevels(bool leave_out) { leaves_out_levels_ = leave_out; }
  // Gives the sum these sample types. Profiles with the first ones alone, as older versions wrote
  // them, have zeros for the rest. Must be called before anything is added.
  void WidenTo(std::vector<ValueType> types) { types_ = std::move(types); }

  // Factor to / from for the values of one sample type.
  struct Scale {
    int64_t to = 1;
    int64_t from = 1;
  };
  // Subtracts a profile: its samples are added with negative values and the label of
  // profile/diff.h; its times and comments are ignored. Scaled values are rounded so that each one,
  // and every sum from the first sample on, is off by less than 1. `scales` is empty (no scaling)
  // or has one entry per sample type; none may be negative, and `from` must be above 0. Requires an
  // earlier Add. Fails as Add does.
  Status Subtract(const Profile& profile, std::span<const Scale> scales = {});

  // Returns true once if the limits made the sum coarse (ProfileBuilder::Limits). Then the caller
  // must add everything again; only after that does each stack that is left have its exact value.
  bool Recount();
  // See ProfileBuilder::FitCoarse.
  std::optional<double> FitCoarse() { return builder_ ? builder_->FitCoarse() : std::nullopt; }
  int64_t Total(uint32_t value_index) const;
  // The losses of the file that was read last.
  PprofLosses read_losses() const;
  // The names of fields of profile.proto in which the profiles differ, so that the sum leaves them
  // empty.
  std::vector<std::string_view> cleared_fields() const;

  // Describes files of one build id that came under several names, as one binary in two containers
  // does. The sum has one mapping for them, with the first name, if their frames have names.
  struct OtherNames {
    size_t mappings = 0;  // of the sum, which have such a name
    std::string kept = {};
    std::string left_out = {};  // the first that was
  };
  const OtherNames& other_names() const { return other_names_; }

  size_t count() const { return count_; }
  size_t bytes() const { return builder_ ? builder_->bytes() : 0; }
  // The number of sums that left the range of int64 and were held at its end.
  uint64_t saturated_values() const { return builder_ ? builder_->saturated_values() : 0; }

  // Returns the sum; an empty profile when nothing was added.
  Profile Finish() &&;

 private:
  Status CheckTypes(const Meta& meta) const;
  bool IsNarrower(const Meta& meta) const;
  void MergeMeta(const Meta& meta);
  MovedMapping MapMapping(const Mapping& mapping);
  template <typename Source, typename Change>
  Status Copy(Source& source, const Change& change);
  template <typename Source>
  Status AddSource(Source& source);

  ProfileBuilder::Limits limits_;
  std::optional<ProfileBuilder> builder_;
  // The merged mapping by its key: two mappings with the same key are one. One entry per binary.
  Interner<uint64_t> mapping_keys_;
  struct MergedMapping {
    uint32_t index = 0;
    StringId filename = 0;
    uint64_t memory_start = 0;
    bool has_other_name = false;
  };
  std::vector<MergedMapping> merged_mappings_;
  OtherNames other_names_;
  MergedComments comments_;
  uint32_t cleared_ = 0;  // a bit for each of kSharedTexts
  size_t count_ = 0;
  std::unique_ptr<PprofReader> reader_;  // its tables are used for one file after the other
  std::string inflated_;                 // what it reads
  std::vector<std::string> left_out_;    // keys of labels
  bool leaves_out_levels_ = false;
  std::vector<ValueType> types_;  // empty: those of the first profile
};

Result<Profile> Merge(std::span<const Profile* const> profiles);

}  // namespace firetower::profile
