// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

namespace firetower::daemon {

// The memory of another process.
class RemoteMemory {
 public:
  virtual ~RemoteMemory() = default;
  // Returns false unless all of it could be read.
  virtual bool Read(uint64_t address, std::span<std::byte> to) const = 0;

  template <typename T>
  requires std::is_trivially_copyable_v<T> std::optional<T> Get(uint64_t address)
  const {
    T value{};
    if (!Read(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }
};

// Returns the memory of a process that may have ended.
std::unique_ptr<RemoteMemory> OpenProcessMemory(uint32_t pid);

// The memory of a running process, by process_vm_readv(2), which brings in absent pages.
class ProcessMemory : public RemoteMemory {
 public:
  explicit ProcessMemory(uint32_t pid) : pid_(pid) {}
  bool Read(uint64_t address, std::span<std::byte> to) const override;

 private:
  uint32_t pid_;
};

}  // namespace firetower::daemon
