// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace firetower::profile {

// Tells whether a function is part of how a lock is taken: of the C library, of a runtime.
// `module`: the base name of its file.
bool IsLockCode(std::string_view function, std::string_view module);

// Tells the same of a function of the kernel and of how a thread leaves its CPU.
bool IsSchedulerCode(std::string_view function);

}  // namespace firetower::profile
