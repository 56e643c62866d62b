// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/profile.h"
#include "symbolizer/load_object.h"

namespace firetower::query {

// A profile after naming, with counts of mappings.
struct NamedProfile {
  profile::Profile profile;
  uint32_t mappings_named = 0;
  uint32_t mappings_missing = 0;  // neither the file nor its debug file was found
};

// Names the frames of a profile as the daemon would have done: frames of mappings without
// functions, and with `lines` also frames of mappings without lines. Frames that cannot be named
// stay unchanged.
NamedProfile NameFrames(const profile::Profile& from, symbolizer::ObjectFinder& objects,
                        bool lines);

}  // namespace firetower::query
