// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/event_slots.h"

#include <algorithm>
#include <utility>

namespace firetower::daemon {

std::optional<size_t> SlotOf(const EventNames& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (name.empty() || found == names.end()) return std::nullopt;
  return static_cast<size_t>(found - names.begin());
}

const EventNames& EventSlots::Assign(const std::set<std::string>& wanted, int64_t now_ns) {
  for (size_t slot = 0; slot < names_.size(); ++slot) {
    // Since the last call until now it was in use, whatever is wanted from now on.
    const bool used = std::exchange(wanted_[slot], wanted.contains(names_[slot]));
    if (used || wanted_[slot]) used_ns_[slot] = now_ns;
  }
  for (const std::string& name : wanted) {
    if (SlotOf(names_, name)) continue;
    for (size_t slot = 0; slot < names_.size(); ++slot) {
      const bool rested = now_ns - used_ns_[slot] >= kRestNs;
      if (!names_[slot].empty() && !rested) continue;
      names_[slot] = name;
      wanted_[slot] = true;
      used_ns_[slot] = now_ns;
      break;
    }
  }
  return names_;
}

}  // namespace firetower::daemon
