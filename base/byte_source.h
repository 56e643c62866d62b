// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace firetower {

// Bytes that need not be in memory all at once. They stay the same while they are read, which may
// be more than once.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  // Fills `out`; [offset, offset + out.size()) lies within size().
  virtual Status ReadAt(uint64_t offset, std::span<std::byte> out) const = 0;
};

}  // namespace firetower
