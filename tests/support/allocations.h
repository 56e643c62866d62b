// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace firetower::testing {

// Calls of operator new so far. Only in a program that links allocations.cc.
uint64_t Allocations();

}  // namespace firetower::testing
