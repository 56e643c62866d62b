// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "daemon/capture/bpf_sampler.h"
#include "daemon/capture/round.h"

namespace firetower::daemon {

// Sorts raw records into a round. What is newer than a round's horizon is kept for the next one;
// bodies go at once, for a sample that names one may be in either.
class RoundBuilder : public BpfSampler::Sink {
 public:
  // `round` is cleared, and gets what the last one left over. Valid until Finish.
  void Begin(Round& round);
  void OnRecord(std::span<const std::byte> record) noexcept override;
  void OnSideband(std::span<const std::byte> record);
  // Orders each list by time and takes back what is newer than `horizon_ns`.
  void Finish(int64_t horizon_ns);

  static bool IsEmpty(const Round& round);

 private:
  void AppendWait(std::span<const std::byte> record);
  void AppendCold(std::span<const std::byte> record);
  void AppendStack(std::span<const std::byte> record);
  void AppendCgroup(std::span<const std::byte> record);
  // Sorts by time; returns where the events after `horizon_ns` begin.
  template <typename Event>
  size_t SortAndSplit(std::vector<Event>& events, std::vector<Event>& scratch, int64_t horizon_ns);

  Round* round_ = nullptr;
  Round left_;                                       // newer than the last horizon
  Round scratch_;                                    // sorted lists, before they are swapped in
  std::vector<std::pair<int64_t, uint32_t>> order_;  // scratch: time and place
};

}  // namespace firetower::daemon
