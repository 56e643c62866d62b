// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>

#include "base/result.h"
#include "base/unique_fd.h"
#include "daemon/capture/unwind_memory.h"

namespace firetower::daemon {

// The unwind memory as BPF maps. The arena is a reserved range of addresses, into which the map of
// each slab is mapped when it is made. The descriptors of the three maps must stay open meanwhile.
class UnwindMaps : public UnwindMemory {
 public:
  UnwindMaps() = default;
  ~UnwindMaps() override;
  UnwindMaps(const UnwindMaps&) = delete;
  UnwindMaps& operator=(const UnwindMaps&) = delete;

  // Fails with kUnsupported or kExhausted, as mmap does.
  Status Open(int slabs_fd, int modules_fd, int processes_fd);

  std::byte* arena() override { return arena_; }
  uint32_t max_slabs() const override { return FT_MAX_SLABS; }
  Status AddSlab(uint32_t slab) override;
  void RemoveSlab(uint32_t slab) override;
  ft_module* modules() override { return modules_; }
  ft_process_bucket* processes() override { return processes_; }

  // Returns the kernel memory of the slabs, as the kernel accounts it. Any thread.
  uint64_t SlabBytes() const { return slab_count_.load(std::memory_order_relaxed) * FT_SLAB_BYTES; }

 private:
  int slabs_fd_ = -1;
  std::byte* arena_ = nullptr;
  ft_module* modules_ = nullptr;
  ft_process_bucket* processes_ = nullptr;
  std::map<uint32_t, UniqueFd> slabs_;
  std::atomic<uint64_t> slab_count_{0};
};

}  // namespace firetower::daemon
