// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/told_waits.h"

#include <algorithm>

namespace firetower::daemon {
namespace {

// The part from `from_ns` to `to_ns` of a wait whose thread could have run from `woken_ns` on.
Amount PartOf(uint64_t from_ns, uint64_t to_ns, uint64_t woken_ns) {
  const uint64_t ready_ns = std::clamp(woken_ns, from_ns, to_ns);
  return {.count = 0, .value = ready_ns - from_ns, .runqueue_ns = to_ns - ready_ns};
}

}  // namespace

Amount ToldWaits::GoesOn(const WaitingThread& thread, int64_t until_ns) {
  const ft_waiting& wait = thread.wait;
  const auto until = static_cast<uint64_t>(until_ns);
  if (until <= wait.begin_ns || until - wait.begin_ns < wait.min_ns) return {};
  auto [entry, inserted] = told_.try_emplace(thread.tid);
  Told& told = entry->second;
  const bool first = inserted || told.begin_ns != wait.begin_ns;
  if (first) told = {wait.begin_ns, wait.begin_ns, 0};
  told.listing = listing_;
  Amount part;
  if (told.until_ns < until)
    part = PartOf(told.until_ns, until, wait.wake_ns != 0 ? wait.wake_ns : until);
  part.count = first ? 1 : 0;
  told.until_ns = std::max(told.until_ns, until);
  return part;
}

void ToldWaits::EndListing() {
  std::erase_if(told_, [&](const auto& told) { return listing_ - told.second.listing > 1; });
}

Amount ToldWaits::Ends(const ft_wait& wait) {
  const uint64_t end_ns = wait.sample.time_ns, own_ns = wait.sample.value;
  uint64_t from_ns = end_ns - std::min(own_ns, end_ns);
  Amount amount;
  amount.count = 1;
  const auto told = told_.find(wait.sample.tid);
  if (told != told_.end()) {
    if (told->second.begin_ns == wait.begin_ns) {
      from_ns = std::clamp(told->second.until_ns, from_ns, end_ns);
      amount.count = 0;
    }
    told_.erase(told);
  }
  amount += PartOf(from_ns, end_ns, end_ns - std::min<uint64_t>(wait.runqueue_ns, end_ns));
  // It stands for others of the same thread at the same place.
  const uint64_t others_ns = wait.total_ns - std::min<uint64_t>(own_ns, wait.total_ns);
  const uint64_t others_runqueue_ns = std::min<uint64_t>(
      wait.total_runqueue_ns - std::min<uint64_t>(wait.runqueue_ns, wait.total_runqueue_ns),
      others_ns);
  amount += {.count = wait.waits - std::min<uint64_t>(wait.waits, 1),
             .value = others_ns - others_runqueue_ns,
             .runqueue_ns = others_runqueue_ns};
  return amount;
}

}  // namespace firetower::daemon
