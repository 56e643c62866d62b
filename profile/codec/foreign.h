// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// For files that are known by their first bytes, not packed, and are not read: says what the file
// is, and which command makes something of it that is. kUnsupported.
std::optional<Error> ForeignFile(std::string_view bytes);

}  // namespace firetower::profile
