// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace firetower::symbolizer {

// Sorts by the upper 32 bits of the keys; equal ones keep their order, so an index in the lower
// half comes along. At most 2^32 keys. Linear, with a second vector of the same size for as long as
// it runs.
void SortByUpperHalf(std::vector<uint64_t>& keys);

}  // namespace firetower::symbolizer
