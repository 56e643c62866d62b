// SPDX-License-Identifier: Apache-2.0
#include "query/flame/flame_sum.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "profile/pprof.h"

namespace firetower::query {

FlameSum::FlameSum(profile::FlameTreeBuilder* builder, Side side, std::string sample_type,
                   bool recounts)
    : builder_(*builder), side_(side), sample_type_(std::move(sample_type)), recounts_(recounts) {}

void FlameSum::Clear() {
  if (recounts_) {
    builder_.Restart();
  } else {
    builder_.Clear(side_);
  }
}

Status FlameSum::Read(std::string_view pprof) {
  const profile::PprofDecodeLimits limits;
  ASSIGN_OR_RETURN(const std::string_view raw, profile::InflatePprof(pprof, limits, &inflated_));
  return reader_.Read(raw, limits);
}

bool FlameSum::LeavesOut(const profile::Meta& meta) const {
  return profile::IsLevel(sample_type_) &&
         (leaves_out_levels_ || !profile::ValueIndexOf(meta, sample_type_));
}

Status FlameSum::AddRead() {
  if (LeavesOut(reader_.meta())) return OkStatus();
  ASSIGN_OR_RETURN(const uint32_t value, ValueOf(reader_.meta()));
  return builder_.Add(reader_, value, side_);
}

Status FlameSum::Add(const profile::Profile& profile) {
  if (LeavesOut(profile.meta())) return OkStatus();
  ASSIGN_OR_RETURN(const uint32_t value, ValueOf(profile.meta()));
  return builder_.Add(profile, value, side_);
}

Result<uint32_t> FlameSum::ValueOf(const profile::Meta& meta) {
  const std::optional<uint32_t> index = profile::ValueIndexOf(meta, sample_type_);
  if (!index) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("these profiles have no value '{}'", sample_type_));
  }
  const profile::ValueType& value = meta.sample_types[*index];
  if (!value_) value_ = value;
  if (value == *value_) return *index;
  return Error(ErrorCode::kUnsupported,
               fmt::format("cannot add up profiles of {}/{} and {}/{}", value_->type, value_->unit,
                           value.type, value.unit));
}

uint32_t TreeNodesWithin(const store::QueryLimits& limits) {
  constexpr uint64_t kNodeBytes = 60;
  return static_cast<uint32_t>(std::clamp<uint64_t>(limits.max_merged_bytes / kNodeBytes, 1024,
                                                    profile::FlameTreeBuilder::kMaxNodes));
}

Result<store::SumResult> SumAsked(const Question& question,
                                  std::span<const store::OpenProfile> open, const ApiParts& parts,
                                  store::ProfileSum& sum) {
  auto summed = store::SumProfiles(parts.store, question.query, open, question.limits, sum);
  // The question was well formed: what does not add up are the profiles that it selects.
  if (!summed && summed.error().code() == ErrorCode::kInvalid)
    return Error(ErrorCode::kUnsupported, summed.error().message());
  if (summed && summed->profiles == 0 && summed->skipped.lacked > 0)
    return NothingReadable(summed->skipped);
  return summed;
}

}  // namespace firetower::query
