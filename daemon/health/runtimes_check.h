// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "daemon/export/runtimes/runtime_facts.h"
#include "daemon/health/check.h"

namespace firetower::daemon {

// Check "runtimes": the interpreters whose code the last window's stacks came through, and how many
// of their samples show their functions by name. Warns of those that are not supported. Without
// facts, no slice has ended yet.
Check RuntimesCheck(const std::optional<RuntimeFacts>& facts);

}  // namespace firetower::daemon
