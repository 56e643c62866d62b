// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace firetower::daemon {

// Returns the number of a system call on x86-64 ("openat": 257), as the headers of the build have
// it; unset: there is none of that name.
std::optional<int> SystemCallNumber(std::string_view name);

}  // namespace firetower::daemon
