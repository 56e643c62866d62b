// SPDX-License-Identifier: Apache-2.0
#include "profile/top/own_frame.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "profile/top/allocator_code.h"
#include "profile/top/lock_code.h"

namespace firetower::profile {
namespace {

bool HasType(const Profile& profile, std::string_view name) {
  return std::ranges::any_of(profile.sample_types(),
                             [&](const ValueType& type) { return type.type == name; });
}

}  // namespace

OwnFrames::OwnFrames(const Profile& profile)
    : profile_(profile),
      locks_(HasType(profile, "contentions") && HasType(profile, "delay")),
      memory_(HasType(profile, "alloc_space")),
      looks_(locks_ || memory_ || HasType(profile, "off_cpu")) {
  if (!looks_) return;
  best_.reserve(profile.location_count());
  for (uint32_t i = 0; i < profile.location_count(); ++i)
    best_.push_back(BestOf(profile.location(i)));
}

OwnFrames::Best OwnFrames::BestOf(const Location& location) const {
  Best best{.rank = Rank::kNone, .line = 0};
  const size_t lines = std::max<size_t>(location.lines.size(), 1);
  for (size_t line = 0; line < lines; ++line) {
    const Rank rank = RankOf(location, line);
    if (rank < best.rank) best = {rank, static_cast<uint32_t>(line)};
  }
  return best;
}

OwnFrames::Rank OwnFrames::RankOf(const Location& location, size_t line) const {
  if (!profile_.IsKernel(location) && !locks_ && !memory_) return Rank::kOwn;
  const std::string name = profile_.FrameName(location, line);
  if (profile_.IsKernel(location)) return IsSchedulerCode(name) ? Rank::kScheduler : Rank::kKernel;
  if (memory_) return IsAllocatorCode(name) ? Rank::kHowCode : Rank::kOwn;
  std::string_view file;
  if (location.mapping != kNoMapping)
    file = profile_.string(profile_.mapping(location.mapping).filename);
  return IsLockCode(name, file.substr(file.rfind('/') + 1)) ? Rank::kHowCode : Rank::kOwn;
}

std::optional<OwnFrames::Place> OwnFrames::Of(const Sample& sample) const {
  if (sample.locations.empty()) return std::nullopt;
  if (!looks_) return Place{};
  Rank best = Rank::kNone;
  Place place;
  for (size_t i = 0; i < sample.locations.size() && best != Rank::kOwn; ++i) {
    const Best& here = best_[sample.locations[i]];
    if (here.rank >= best) continue;
    best = here.rank;
    place = {i, here.line};
  }
  return place;
}

}  // namespace firetower::profile
