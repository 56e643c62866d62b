// SPDX-License-Identifier: Apache-2.0
// Texts for people about parts of a file that its profile lacks or may have got wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/pprof.h"
#include "profile/profile.h"

namespace firetower::profile {

// Both add a text when something was lost; `notes` may be null.
void AddNoteOfPprof(const PprofLosses& losses, std::vector<std::string>* notes);
void AddNoteOfText(std::string_view text, std::vector<std::string>* notes);

// Adds a text, which goes on from the name of the file, when text of perf script ends inside a
// sample. It says nothing of its length, so that it cannot be told for sure. `notes` may be null.
void AddNoteOfCut(std::string_view text, std::vector<std::string>* notes);

// Adds a text when samples of perf script have one number and no name: `-F tid` and `-F pid` print
// the same. `notes` may be null.
void AddNoteOfThreads(const Profile& profile, std::vector<std::string>* notes);

}  // namespace firetower::profile
