// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/times/sample_times.h"

namespace firetower::profile {

// A profile, and when its samples were taken.
struct TimedProfile {
  Profile profile;
  SampleTimes times = {};
};

// Both as files: the times count the samples in the order of the pprof file.
struct TimedFiles {
  std::string pprof_gz = {};
  std::string times_gz = {};  // "" if no time is known
};
// `times` may be null: none is known.
TimedFiles EncodeTimed(const Profile& profile, const SampleTimes* times);

// Decodes both files. Fails as DecodePprof and DecodeSampleTimes do.
Result<TimedProfile> DecodeTimed(std::string_view pprof, std::string_view times);

// A part of time: [from, to), of each second only [offset_from, offset_to) of its 50 slots. All in
// slots of Unix time.
struct TimeCut {
  int64_t from_slot = 0;
  int64_t to_slot = 0;
  int64_t offset_from = 0;
  int64_t offset_to = SampleTimes::kSlotsPerSecond;

  bool Holds(int64_t slot) const;
  // The part of each second that it has, from 0 to 1.
  double OffsetShare() const {
    return static_cast<double>(offset_to - offset_from) / SampleTimes::kSlotsPerSecond;
  }
  // The length of that time within [from_ns, to_ns) of Unix time, in ns.
  int64_t NsWithin(int64_t from_ns, int64_t to_ns) const;
};

// Returns the part of a profile that was sampled in `cut`. A value of a stack is divided evenly
// among its times, which for CPU time, and for all counts, is exact. Samples without a known time
// are left out.
Profile CutToTime(const TimedProfile& timed, const TimeCut& cut);

}  // namespace firetower::profile
