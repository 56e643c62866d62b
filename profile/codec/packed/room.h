// SPDX-License-Identifier: Apache-2.0
// Allocates buffers for decompressed data of unknown size, which may be a bomb.
#pragma once

#include <cstddef>
#include <string>

namespace firetower::profile {

// Resizes `out` to `size` bytes, at most `max_bytes`, and keeps its first `kept` bytes. Beyond an
// eighth of `max_bytes` it reserves address space for all of `max_bytes` at once: a growing string
// holds two copies of its data, while untouched pages take no memory. So the memory held while
// growing is at most `max_bytes` plus an eighth.
void MakeRoom(size_t kept, size_t size, size_t max_bytes, std::string* out);

// Returns the next size for growing from `size`: double, but at most an eighth more, because the
// added part of a string is filled with zeros.
size_t NextRoom(size_t size, size_t max_bytes);

}  // namespace firetower::profile
