// SPDX-License-Identifier: Apache-2.0
// Text forms of a profile, for people and scripts.
#pragma once

#include <cstdint>
#include <string>

#include "profile/profile.h"

namespace firetower::profile {

struct FoldedOptions {
  bool mark_kernel = false;  // suffix `_[k]` on frames of the kernel, as flamegraph.pl colours them
};

// One line a stack, `root;…;leaf N`, sorted; ';' and newlines in names become ':' and ' '.
// Stacks that differ only in labels add up; zero values are left out.
std::string ToFolded(const Profile& profile, uint32_t value_index,
                     const FoldedOptions& options = {});

// The version of ToJson's schema, its member "version": a change that breaks readers raises it.
inline constexpr int kJsonVersion = 1;

// The whole profile as one JSON object; docs/profile-json.md describes its members.
std::string ToJson(const Profile& profile);

}  // namespace firetower::profile
