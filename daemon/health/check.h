// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/sources.h"

namespace firetower::daemon {

// One line of `doctor`, as the query API serves it: what was looked at, what was found, and what a
// person can do about it (empty when all is well).
using query::Check;
using query::CheckStatus;

}  // namespace firetower::daemon
