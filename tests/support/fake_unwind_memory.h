// SPDX-License-Identifier: Apache-2.0
// The kernel side's unwind memory on the heap.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "daemon/capture/unwind_memory.h"

namespace firetower::testing {

class FakeUnwindMemory : public daemon::UnwindMemory {
 public:
  explicit FakeUnwindMemory(uint32_t max_slabs = 32)
      : max_slabs_(max_slabs),
        arena_(size_t{max_slabs} * FT_SLAB_BYTES),
        modules_(FT_MAX_MODULES),
        processes_(FT_PROCESS_BUCKETS) {}

  std::byte* arena() override { return arena_.data(); }
  uint32_t max_slabs() const override { return max_slabs_; }
  Status AddSlab(uint32_t slab) override {
    if (full) return Error(ErrorCode::kExhausted, "no memory");
    slabs.insert(slab);
    return OkStatus();
  }
  void RemoveSlab(uint32_t slab) override { slabs.erase(slab); }
  ft_module* modules() override { return modules_.data(); }
  ft_process_bucket* processes() override { return processes_.data(); }

  // The entry of a process, or nullptr.
  const ft_process* FindProcess(uint32_t pid) const {
    for (uint32_t choice = 0; choice < 2; ++choice) {
      for (const ft_process& way : processes_[ft_bucket(pid, choice)].way) {
        if (way.tgid == pid) return &way;
      }
    }
    return nullptr;
  }

  std::set<uint32_t> slabs;
  bool full = false;

 private:
  uint32_t max_slabs_;
  std::vector<std::byte> arena_;
  std::vector<ft_module> modules_;
  std::vector<ft_process_bucket> processes_;
};

}  // namespace firetower::testing
