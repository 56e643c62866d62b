// SPDX-License-Identifier: Apache-2.0
// Text forms of a profile, for people, scripts and other tools.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "profile/profile.h"

namespace firetower::profile {

struct FoldedOptions {
  bool mark_kernel = false;  // suffix `_[k]` on frames of the kernel, as flamegraph.pl colours them
  bool mark_inlined = false;  // suffix `_[i]` on inlined functions
};

// Returns one line per stack, `root;…;leaf N`, sorted. In names, ';' and newlines become ':' and '
// '. Stacks that differ only in labels add up; zero values are omitted.
std::string ToFolded(const Profile& profile, uint32_t value_index,
                     const FoldedOptions& options = {});

// Returns a diff (profile/diff.h) with two counts per line: `root;…;leaf before after`, as
// difffolded.pl writes and flamegraph.pl reads them.
std::string ToFoldedDiff(const Profile& diff, uint32_t value_index,
                         const FoldedOptions& options = {});

// Encodes in speedscope's file format: one profile of type sampled for each sample type, called
// `type/unit`; the default one is active. Labels are dropped. kInvalid: a value is negative, which
// speedscope refuses.
Result<std::string> EncodeSpeedscope(const Profile& profile);

// The version of ToJson's schema, its member "version". It is raised by each change that breaks
// readers.
inline constexpr int kJsonVersion = 1;

// Returns the whole profile as one JSON object; docs/profile-json.md describes its members.
std::string ToJson(const Profile& profile);

}  // namespace firetower::profile
