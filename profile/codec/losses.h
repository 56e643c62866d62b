// SPDX-License-Identifier: Apache-2.0
// Texts for people about what a file has and its profile has not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/pprof.h"

namespace firetower::profile {

// Both add a text when something was lost; `notes` may be null.
void AddNoteOfPprof(const PprofLosses& losses, std::vector<std::string>* notes);
void AddNoteOfText(std::string_view text, std::vector<std::string>* notes);

}  // namespace firetower::profile
