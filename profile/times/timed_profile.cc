// SPDX-License-Identifier: Apache-2.0
#include "profile/times/timed_profile.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "profile/builder.h"
#include "profile/codec/pprof/reader.h"
#include "profile/copy.h"
#include "profile/pprof.h"

namespace firetower::profile {
namespace {

__extension__ typedef __int128 Int128;

// The share of `value` that `part` of `whole` times has.
int64_t Share(int64_t value, uint32_t part, uint32_t whole) {
  return static_cast<int64_t>(Int128{value} * part / whole);
}

}  // namespace

TimedFiles EncodeTimed(const Profile& profile, const SampleTimes* times) {
  TimedFiles files;
  if (times == nullptr || times->empty()) {
    files.pprof_gz = EncodePprof(profile);
    return files;
  }
  std::vector<uint32_t> order;
  files.pprof_gz = EncodePprof(profile, {.order = &order});
  std::vector<uint32_t> places(order.size());
  for (uint32_t place = 0; place < order.size(); ++place) places[order[place]] = place;
  SampleTimes in_file = *times;
  in_file.Renumber(places);
  files.times_gz = EncodeSampleTimes(std::move(in_file));
  return files;
}

Result<TimedProfile> DecodeTimed(std::string_view pprof, std::string_view times) {
  const PprofDecodeLimits limits;
  std::string inflated;
  ASSIGN_OR_RETURN(const std::string_view raw, InflatePprof(pprof, limits, &inflated));
  PprofReader reader;
  RETURN_IF_ERROR(reader.Read(raw, limits));
  ProfileBuilder builder(Meta(reader.meta()), {.max_samples = limits.max_entries,
                                               .max_bytes = std::numeric_limits<size_t>::max()});
  const auto keep_mapping = [&](const Mapping& mapping) {
    return MovedMapping{.index = builder.AddMapping(mapping)};
  };
  // Samples that differ in the file may be one here.
  std::vector<uint32_t> places;
  const auto note = [&](uint32_t /*sample*/) { places.push_back(builder.last_sample()); };
  // The reader counted the samples against the limit.
  CHECK(CopyInto(reader, keep_mapping, KeepSample, builder, note));
  TimedProfile timed;
  if (!times.empty()) {
    ASSIGN_OR_RETURN(timed.times, DecodeSampleTimes(times, reader.sample_count()));
    timed.times.Renumber(places);
  }
  timed.profile = std::move(builder).Build();
  return timed;
}

bool TimeCut::Holds(int64_t slot) const {
  if (slot < from_slot || slot >= to_slot) return false;
  const int64_t offset = slot % SampleTimes::kSlotsPerSecond;
  return offset >= offset_from && offset < offset_to;
}

int64_t TimeCut::NsWithin(int64_t from_ns, int64_t to_ns) const {
  const int64_t begin = std::max(from_ns, from_slot * SampleTimes::kSlotNs);
  const int64_t end = std::min(to_ns, to_slot * SampleTimes::kSlotNs);
  if (begin >= end) return 0;
  // The length of the wanted offsets from second 0 to `ns`.
  const auto until = [&](int64_t ns) {
    const int64_t wide = (offset_to - offset_from) * SampleTimes::kSlotNs;
    const int64_t rest = ns % kNsPerSecond - offset_from * SampleTimes::kSlotNs;
    return ns / kNsPerSecond * wide + std::clamp<int64_t>(rest, 0, wide);
  };
  return until(end) - until(begin);
}

Profile CutToTime(const TimedProfile& timed, const TimeCut& cut) {
  const Profile& from = timed.profile;
  std::vector<uint32_t> all(from.sample_count()), held(from.sample_count());
  for (const SampleTimes::Taken& taken : timed.times.taken()) {
    CHECK(taken.sample < all.size());
    ++all[taken.sample];
    if (cut.Holds(timed.times.SlotOf(taken))) ++held[taken.sample];
  }
  Meta meta = from.meta();
  const int64_t begin = meta.time_nanos, end = begin + meta.duration_nanos;
  meta.duration_nanos = cut.NsWithin(begin, end);
  meta.time_nanos = std::clamp(cut.from_slot * SampleTimes::kSlotNs, begin, std::max(begin, end));
  ProfileBuilder builder(std::move(meta));
  const auto keep_mapping = [&](const Mapping& mapping) {
    return MovedMapping{.index = builder.AddMapping(mapping)};
  };
  uint32_t next = 0;
  const auto change = [&](std::vector<int64_t>& values, std::vector<Label>&) {
    const uint32_t sample = next++;
    if (held[sample] == 0) return false;
    for (int64_t& value : values) value = Share(value, held[sample], all[sample]);
    return true;
  };
  // The limits are those of the profile's own making.
  CHECK(CopyInto(from, keep_mapping, change, builder));
  return std::move(builder).Build();
}

}  // namespace firetower::profile
