// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace firetower::profile {

// Tells whether a function is part of how memory is allocated: of an allocator, or of the C++
// library's way to one.
bool IsAllocatorCode(std::string_view function);

}  // namespace firetower::profile
