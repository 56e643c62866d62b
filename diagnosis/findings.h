// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "diagnosis/report.h"
#include "diagnosis/signature.h"
#include "profile/profile.h"

namespace firetower::diagnosis {

// Finds the signatures whose stacks have their least part of the total. `type` is the profile's:
// "cpu", "event:page-faults". Sorted.
std::vector<Finding> FindSignatures(const profile::Profile& profile, uint32_t value_index,
                                    std::string_view type, std::span<const Signature> signatures);

// Judges a profile, with the signatures that come with the program and others.
Report Diagnose(const profile::Profile& profile, uint32_t value_index, std::string_view type,
                std::span<const Signature> others = {});

}  // namespace firetower::diagnosis
