// SPDX-License-Identifier: Apache-2.0
// Applies drop_frames and keep_frames of profile.proto, as `go tool pprof` does before it shows a
// profile.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "profile/profile.h"

namespace firetower::profile {

struct Pruned {
  Profile profile = {};
  uint32_t samples = 0;  // those that lost frames
};

// Removes the frames that drop_frames matches completely and keep_frames does not, together with
// all frames that they called. Frames at the root stay as long as no other frame is between, so
// that no stack becomes empty. kInvalid: an expression is not valid in RE2.
Result<Pruned> PruneFrames(const Profile& profile);

}  // namespace firetower::profile
