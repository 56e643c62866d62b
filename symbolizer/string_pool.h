// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firetower::symbolizer {

// Collects NUL-terminated names into one blob, each content once. While building it costs 8 bytes
// a name beside the blob; Take() leaves the blob alone.
class StringPool {
 public:
  // Room for about `names` is made at once: growing looks at every name again.
  explicit StringPool(size_t max_bytes, size_t names = 0);

  // The name's offset in the blob, or nothing when it would not fit. Cut at an embedded NUL.
  std::optional<uint32_t> Add(std::string_view name);
  std::string_view Get(uint32_t offset) const { return blob_.c_str() + offset; }
  // The blob without spare capacity; the pool is empty afterwards.
  std::string Take();

 private:
  void Grow();

  size_t max_bytes_;
  std::string blob_;
  std::vector<uint32_t> slots_;  // open addressing; offset + 1, 0 is free
  size_t used_ = 0;
};

}  // namespace firetower::symbolizer
