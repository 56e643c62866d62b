// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firetower::symbolizer {

// Collects NUL-terminated names into one blob, each name once. Costs 8 bytes per name beside the
// blob while it is built; Take() returns the blob alone.
class StringPool {
 public:
  // Reserves memory for about `names`, because growing hashes every name again.
  explicit StringPool(size_t max_bytes, size_t names = 0);

  // Returns the name's offset in the blob, or nothing when it does not fit. Cuts the name at an
  // embedded NUL.
  std::optional<uint32_t> Add(std::string_view name);
  std::string_view Get(uint32_t offset) const { return blob_.c_str() + offset; }
  // Returns the blob without spare capacity. The pool is empty afterwards.
  std::string Take();

 private:
  void Grow();

  size_t max_bytes_;
  std::string blob_;
  std::vector<uint32_t> slots_;  // open addressing; offset + 1, 0 is free
  size_t used_ = 0;
};

}  // namespace firetower::symbolizer
