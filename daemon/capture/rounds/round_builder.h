// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "daemon/capture/bpf_sampler.h"
#include "daemon/capture/rounds/round.h"

namespace firetower::daemon {

// Sorts raw records into a round. Records newer than the round's horizon are kept for the next
// round. Stack bodies are passed on at once, because a sample that refers to one may be in either
// round.
class RoundBuilder : public BpfSampler::Sink {
 public:
  // Clears `round` and adds the records left over from the last one. `round` must stay valid until
  // Finish.
  void Begin(Round& round);
  void OnRecord(std::span<const std::byte> record) noexcept override;
  void OnSideband(std::span<const std::byte> record);
  // Sorts each list by time and takes back records newer than `horizon_ns`.
  void Finish(int64_t horizon_ns);

  static bool IsEmpty(const Round& round);

 private:
  void AppendWait(std::span<const std::byte> record);
  void AppendCold(std::span<const std::byte> record);
  void AppendStack(std::span<const std::byte> record);
  void AppendCgroup(std::span<const std::byte> record);
  // Sorts by time. Returns the index of the first event after `horizon_ns`.
  template <typename Event>
  size_t SortAndSplit(std::vector<Event>& events, std::vector<Event>& scratch, int64_t horizon_ns);

  Round* round_ = nullptr;
  Round left_;                                       // newer than the last horizon
  Round scratch_;                                    // sorted lists, before they are swapped in
  std::vector<std::pair<int64_t, uint32_t>> order_;  // scratch: time and place
};

}  // namespace firetower::daemon
