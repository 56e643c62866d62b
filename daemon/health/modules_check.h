// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "daemon/export/name_losses.h"
#include "daemon/health/check.h"

namespace firetower::daemon {

// Check "modules": counts the frames of the last window without names, with reasons and the files
// that could not be read. Warns if they are as many as in the alert FiretowerFramesUnnamed, or if
// the kernel refuses files, which a missing right explains. Without facts, no window has ended yet.
Check ModulesCheck(const std::optional<NameFacts>& facts);

}  // namespace firetower::daemon
