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

// Adds up profiles fed one at a time, so that only the sum is held. Sample types and period type
// must agree. A binary mapped at different addresses (two processes) becomes one mapping, found by
// build id else file name, offset and size; addresses move with it. The result spans from the first
// start to the last end, where all starts are known; of comments see profile/comments.h.
class Merger {
 public:
  explicit Merger(ProfileBuilder::Limits limits = {});
  ~Merger();

  // kInvalid names both sides when types differ; kExhausted when the sum passes the limits. After
  // an error the sum so far is unchanged (kInvalid) or incomplete (kExhausted).
  Status Add(const Profile& profile);
  // The same of a pprof file, without a Profile of its own in between: half the time and memory.
  // Errors also as DecodePprof's; the sum is then unchanged.
  Status AddPprof(std::string_view bytes, const PprofDecodeLimits& limits = {});
  // The two halves of that, for whom a file that cannot be read is another matter than one that
  // cannot be added. `bytes` stay as they are until AddRead, which follows a ReadPprof that went
  // well.
  Status ReadPprof(std::string_view bytes, const PprofDecodeLimits& limits = {});
  Status AddRead();

  // For each sample type: values are multiplied by to / from.
  struct Scale {
    int64_t to = 1;
    int64_t from = 1;
  };
  // Samples come in negated, with the label of profile/diff.h; times and comments stay out. Scaled
  // values are rounded so that each one is off by less than 1 and so is every sum from the first
  // sample on. `scales` is empty (nothing is scaled) or has one entry per sample type, none
  // negative, `from` above 0. Something must have been added before. Errors as Add's.
  Status Subtract(const Profile& profile, std::span<const Scale> scales = {});

  // True once, if the limits made the sum coarse (ProfileBuilder::Limits): then all that was added
  // has to be added once more, and only after that each stack that is there has its true value.
  bool Recount();
  // As ProfileBuilder::FitCoarse.
  std::optional<double> FitCoarse() { return builder_ ? builder_->FitCoarse() : std::nullopt; }
  int64_t Total(uint32_t value_index) const;
  // Losses of the file that was read last.
  PprofLosses read_losses() const;
  // Names of fields of profile.proto in which the profiles differ, so that the sum has none.
  std::vector<std::string_view> cleared_fields() const;

  // Files of one build id that came under several names, as one binary in two containers does.
  // Where their frames have names, the sum has one mapping, with the first name.
  struct OtherNames {
    size_t mappings = 0;  // of the sum, which have such a name
    std::string kept = {};
    std::string left_out = {};  // the first that was
  };
  const OtherNames& other_names() const { return other_names_; }

  size_t count() const { return count_; }
  size_t bytes() const { return builder_ ? builder_->bytes() : 0; }
  // Sums that passed the range of int64 and were held at its end.
  uint64_t saturated_values() const { return builder_ ? builder_->saturated_values() : 0; }

  // An empty profile when nothing was added.
  Profile Finish() &&;

 private:
  Status CheckTypes(const Meta& meta) const;
  void MergeMeta(const Meta& meta);
  MovedMapping MapMapping(const Mapping& mapping);
  template <typename Source, typename Change>
  Status Copy(Source& source, const Change& change);
  template <typename Source>
  Status AddSource(Source& source);

  ProfileBuilder::Limits limits_;
  std::optional<ProfileBuilder> builder_;
  // What makes two mappings one, and the merged mapping of each; as many as there are binaries.
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
};

Result<Profile> Merge(std::span<const Profile* const> profiles);

}  // namespace firetower::profile
