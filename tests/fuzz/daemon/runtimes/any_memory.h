// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "daemon/runtimes/remote_memory.h"

namespace firetower::daemon {

// Memory in which every address leads into the same bytes, as pointers of a damaged process might.
class AnyMemory : public RemoteMemory {
 public:
  explicit AnyMemory(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool Read(uint64_t address, std::span<std::byte> to) const override {
    if (bytes_.empty() || address % 11 == 3) return false;
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<std::byte>(bytes_[(address + i) % bytes_.size()]);
    return true;
  }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace firetower::daemon
