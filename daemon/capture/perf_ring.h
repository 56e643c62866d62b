// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace firetower::daemon {

// The memory-mapped ring of one perf event (perf_event_open(2), "MMAP layout"). Owns the event's
// descriptor and the mapping. Read by one thread.
class PerfRing {
 public:
  // Maps a ring of `data_bytes` (a power of two, at least a page) for `event`. kPermission: the
  // memory lock budget is used up (EPERM), and the caller may try again with less.
  static Result<PerfRing> Map(UniqueFd event, size_t data_bytes);

  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&& other) noexcept;
  ~PerfRing();

  // Passes every record up to the current head to `sink`, then frees their memory. A record that
  // wraps around is joined first.
  void Drain(const std::function<void(std::span<const std::byte>)>& sink);

  int fd() const { return event_.get(); }
  size_t data_bytes() const { return data_bytes_; }

 private:
  PerfRing(UniqueFd event, std::byte* base, size_t page_bytes, size_t data_bytes)
      : event_(std::move(event)), base_(base), page_bytes_(page_bytes), data_bytes_(data_bytes) {}
  void Unmap();

  UniqueFd event_;
  std::byte* base_ = nullptr;
  size_t page_bytes_ = 0;
  size_t data_bytes_ = 0;
  std::vector<std::byte> wrapped_;
};

}  // namespace firetower::daemon
