// SPDX-License-Identifier: Apache-2.0
// drop_frames and keep_frames of profile.proto, as `go tool pprof` applies them to what it shows.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "profile/profile.h"

namespace firetower::profile {

struct Pruned {
  Profile profile = {};
  uint32_t samples = 0;  // those that lost frames
};

// Returns the profile without the frames that drop_frames matches as a whole and keep_frames does
// not, and without all frames that these called. Frames next to the root stay as long as no other
// is between, so that no stack gets empty. kInvalid for an expression that is not of RE2.
Result<Pruned> PruneFrames(const Profile& profile);

}  // namespace firetower::profile
