// SPDX-License-Identifier: Apache-2.0
// Room for data of unknown length, which may be a bomb.
#pragma once

#include <cstddef>
#include <string>

namespace firetower::profile {

// Makes `out` hold `size` bytes, at most `max_bytes`, of which the first `kept` stay as they are.
// Beyond an eighth of `max_bytes` address space for all of that is taken at once: a string that
// grows holds two copies of what it has, and pages that nobody wrote to take no memory. So what is
// held while it grows is no more than `max_bytes` and an eighth.
void MakeRoom(size_t kept, size_t size, size_t max_bytes, std::string* out);

// Returns the size that room should grow to from `size`: twofold, by an eighth at most, because
// what a string has grown by is written with zeros.
size_t NextRoom(size_t size, size_t max_bytes);

}  // namespace firetower::profile
