// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace firetower::daemon {

// HotSpot's compressed numbers (UNSIGNED5 of compressedStream.hpp, from JDK 20 on unsigned5.hpp):
// bytes of six bits each while they are 192 or more, five at most. From 20 on each byte is one
// more, so that none is zero. Ends at the end of its bytes: what lies beyond reads as 0.
class NumberStream {
 public:
  NumberStream(std::span<const std::byte> bytes, uint8_t base) : bytes_(bytes), base_(base) {}

  uint8_t Byte() { return at_ < bytes_.size() ? static_cast<uint8_t>(bytes_[at_++]) : uint8_t{0}; }
  bool ended() const { return at_ >= bytes_.size(); }

  uint32_t Number() {
    constexpr uint32_t kGoesOn = 192, kMostBytes = 5;
    uint32_t number = 0;
    for (uint32_t i = 0; i < kMostBytes && !ended(); ++i) {
      const uint32_t byte = Byte();
      number += (byte - base_) << (6 * i);
      if (byte < kGoesOn) break;
    }
    return number;
  }

  int32_t Signed() {
    const uint32_t number = Number();
    return static_cast<int32_t>(number >> 1 ^ (0u - (number & 1)));
  }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  uint8_t base_;
};

}  // namespace firetower::daemon
