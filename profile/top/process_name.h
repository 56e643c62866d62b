// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "profile/profile.h"

namespace firetower::profile {

// Returns the text of a sample's label, or "". It belongs to the profile.
std::string_view LabelText(const Profile& profile, const Sample& sample, std::string_view key);

// Returns the name of the process that a sample is of, its label `comm`, or "". It belongs to the
// profile.
std::string_view ProcessName(const Profile& profile, const Sample& sample);

}  // namespace firetower::profile
