// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// True for the header of gperftools' binary CPU profile.
bool IsGperftools(std::string_view bytes);

// Returns the error for bytes that begin as that header does, and in which it is cut off or wrong.
std::optional<Error> DamagedGperftools(std::string_view bytes);

}  // namespace firetower::profile
