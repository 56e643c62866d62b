// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace firetower::profile {

// True for the header of gperftools' binary CPU profile.
bool IsGperftools(std::string_view bytes);

}  // namespace firetower::profile
