// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// Tells whether the bytes begin with the header of gperftools' binary CPU profile.
bool IsGperftools(std::string_view bytes);

// Returns the error for bytes that begin like that header but are cut off or wrong.
std::optional<Error> DamagedGperftools(std::string_view bytes);

}  // namespace firetower::profile
