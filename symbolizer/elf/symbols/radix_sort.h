// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace firetower::symbolizer {

// Sorts keys by their upper 32 bits. Equal ones keep their order, so the lower half can carry an
// index. At most 2^32 keys. Linear; needs a second vector of the same size meanwhile.
void SortByUpperHalf(std::vector<uint64_t>& keys);

}  // namespace firetower::symbolizer
