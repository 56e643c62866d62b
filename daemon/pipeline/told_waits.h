// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "bpf/abi/offcpu.h"
#include "daemon/capture/families/waiting_threads.h"
#include "daemon/pipeline/slice.h"

namespace firetower::daemon {

// Divides long waits over slices. The kernel side tells a wait when it ends. A wait that goes on
// when a slice ends is told then, as far as it went; when it ends, only the rest is left to tell.
// Owned by the resolve thread. Holds one entry for each wait that was told in part, at most as many
// as the kernel side can have of them (FT_WAITING_ENTRIES).
class ToldWaits {
 public:
  // Begins a listing of the waits that go on.
  void BeginListing() { ++listing_; }
  // Returns the part of a listed wait that was not told yet, up to `until_ns` (monotonic).
  Amount GoesOn(const WaitingThread& thread, int64_t until_ns);
  // Forgets the waits that were missing in this listing and in the last one: their end was lost.
  void EndListing();
  // Returns what is left to tell of a wait that has ended, and of those that it stands for.
  Amount Ends(const ft_wait& wait);

  size_t size() const { return told_.size(); }

 private:
  struct Told {
    uint64_t begin_ns = 0;
    uint64_t until_ns = 0;
    uint32_t listing = 0;
  };

  std::unordered_map<uint32_t, Told> told_;  // by thread id
  uint32_t listing_ = 0;
};

}  // namespace firetower::daemon
