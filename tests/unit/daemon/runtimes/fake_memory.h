// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "daemon/runtimes/remote_memory.h"

namespace firetower::testing {

// The memory of a process that a test lays out: ranges of bytes by address; all else is absent.
class FakeMemory : public daemon::RemoteMemory {
 public:
  bool Read(uint64_t address, std::span<std::byte> to) const override {
    auto range = ranges_.upper_bound(address);
    if (range == ranges_.begin()) return false;
    --range;
    const uint64_t at = address - range->first;
    if (at > range->second.size() || range->second.size() - at < to.size()) return false;
    std::memcpy(to.data(), range->second.data() + at, to.size());
    return true;
  }

  void Map(uint64_t address, size_t bytes) { ranges_[address].resize(bytes); }
  void Unmap(uint64_t address) { ranges_.erase(address); }

  template <typename T>
  void Put(uint64_t address, const T& value) {
    PutBytes(address, std::as_bytes(std::span(&value, 1)));
  }
  void PutBytes(uint64_t address, std::span<const std::byte> bytes) {
    auto range = std::prev(ranges_.upper_bound(address));
    std::memcpy(range->second.data() + (address - range->first), bytes.data(), bytes.size());
  }
  void PutText(uint64_t address, std::string_view text) {
    PutBytes(address, std::as_bytes(std::span(text)));
  }

 private:
  std::map<uint64_t, std::vector<std::byte>> ranges_;
};

}  // namespace firetower::testing
