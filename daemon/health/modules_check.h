// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "daemon/export/name_losses.h"
#include "daemon/health/check.h"

namespace firetower::daemon {

// "modules": says how many frames of the last window have no name and why, with the files that
// could not be read. Warns where they are as many as the alert FiretowerFramesUnnamed is about, or
// where the kernel refuses files, which a right that is missing explains. Without facts no window
// has ended yet.
Check ModulesCheck(const std::optional<NameFacts>& facts);

}  // namespace firetower::daemon
