// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "profile/builder.h"
#include "profile/profile.h"

namespace firetower::profile {

// Adds up profiles fed one at a time, so that only the sum is held. Sample types and period type
// must agree. A binary mapped at different addresses (two processes) becomes one mapping, found by
// build id else file name, offset and size; addresses move with it. The result spans from the first
// start to the last end; comments are the distinct ones, at most kMaxComments.
class Merger {
 public:
  static constexpr size_t kMaxComments = 64;

  explicit Merger(ProfileBuilder::Limits limits = {}) : limits_(limits) {}

  // kInvalid names both sides when types differ; kExhausted when the sum passes the limits. After
  // an error the sum so far is unchanged (kInvalid) or incomplete (kExhausted).
  Status Add(const Profile& profile);
  size_t count() const { return count_; }
  size_t bytes() const { return builder_ ? builder_->bytes() : 0; }

  // An empty profile when nothing was added.
  Profile Finish() &&;

 private:
  uint32_t MapMapping(const Profile& profile, uint32_t index, uint64_t* move);
  void MergeMeta(const Meta& meta);
  Status AddSamples(const Profile& profile);

  ProfileBuilder::Limits limits_;
  std::optional<ProfileBuilder> builder_;
  // What makes two mappings one, and the merged mapping of each; as many as there are binaries.
  Interner<uint64_t> mapping_keys_;
  std::vector<std::pair<uint32_t, uint64_t>> merged_mappings_;  // index, memory_start
  size_t count_ = 0;
};

Result<Profile> Merge(std::span<const Profile* const> profiles);

}  // namespace firetower::profile
