// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/sources.h"

namespace firetower::daemon {

// One line of `doctor`, as the query API serves it: the subject, the result, and a remedy (empty
// when all is well).
using query::Check;
using query::CheckStatus;

}  // namespace firetower::daemon
