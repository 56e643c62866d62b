// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "bpf/abi/unwind.h"

namespace firetower::daemon {

// The memory that the kernel side's walk reads, mapped into ours (bpf/abi/unwind.h). The kernel
// side sees writes at once, without a system call. Owned by the resolve thread.
class UnwindMemory {
 public:
  virtual ~UnwindMemory() = default;

  // The arena as one range with FT_SLAB_BYTES per slab. A slab may be accessed only between AddSlab
  // and RemoveSlab.
  virtual std::byte* arena() = 0;
  virtual uint32_t max_slabs() const = 0;
  virtual Status AddSlab(uint32_t slab) = 0;
  virtual void RemoveSlab(uint32_t slab) = 0;

  virtual ft_module* modules() = 0;            // [FT_MAX_MODULES]
  virtual ft_process_bucket* processes() = 0;  // [FT_PROCESS_BUCKETS]
};

}  // namespace firetower::daemon
