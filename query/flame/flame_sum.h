// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "profile/codec/pprof/reader.h"
#include "profile/flame/tree.h"
#include "profile/profile.h"
#include "profile/type.h"
#include "query/api.h"
#include "query/question.h"
#include "store/profiles/profile_sum.h"

namespace firetower::query {

// Adds the profiles of an answer to one side of a flame graph's tree, so that no merged profile is
// held in memory.
class FlameSum final : public store::ProfileSum {
 public:
  using Side = profile::FlameTreeBuilder::Side;

  // `builder` must outlive this. `sample_type` names the value; empty: the profiles' default. With
  // `recounts` false the caller handles builder->Recount().
  FlameSum(profile::FlameTreeBuilder* builder, Side side, std::string sample_type, bool recounts);

  void LeaveOutLevels(bool leave_out) override { leaves_out_levels_ = leave_out; }
  void Clear() override;
  Status Read(std::string_view pprof) override;
  Status AddRead() override;
  Status Add(const profile::Profile& profile) override;
  bool Recount() override { return recounts_ && builder_.Recount(); }
  int64_t Samples() const override { return builder_.Total(side_); }

  // Unset until something was added.
  const std::optional<profile::ValueType>& value() const { return value_; }

 private:
  // Tells whether the value is of a moment that does not count, or that an older profile lacks.
  bool LeavesOut(const profile::Meta& meta) const;
  // Returns the index of the value. kUnsupported: a profile does not have it, or has it in another
  // unit than earlier profiles.
  Result<uint32_t> ValueOf(const profile::Meta& meta);

  profile::FlameTreeBuilder& builder_;
  const Side side_;
  const std::string sample_type_;
  const bool recounts_;
  bool leaves_out_levels_ = false;
  std::optional<profile::ValueType> value_;
  profile::PprofReader reader_;
  std::string inflated_;  // bytes that it reads
};

// Returns the number of nodes for a tree that takes at most max_merged_bytes.
uint32_t TreeNodesWithin(const store::QueryLimits& limits);

// Adds the profiles that a question asks for to `sum`. Fails as MergeAsked does.
Result<store::SumResult> SumAsked(const Question& question,
                                  std::span<const store::OpenProfile> open, const ApiParts& parts,
                                  store::ProfileSum& sum);

}  // namespace firetower::query
