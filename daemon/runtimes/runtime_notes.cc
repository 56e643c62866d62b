// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/runtime_notes.h"

#include <utility>

namespace firetower::daemon {

void RuntimeNotes::Add(std::string_view key, std::shared_ptr<const RuntimeNote> note) {
  std::lock_guard lock(mutex_);
  if (key.empty() || notes_.size() >= kMax) return;
  notes_.insert_or_assign(std::string(key), std::move(note));
}

std::shared_ptr<const RuntimeNote> RuntimeNotes::Find(std::string_view key) const {
  std::lock_guard lock(mutex_);
  const auto found = notes_.find(std::string(key));
  return found != notes_.end() ? found->second : nullptr;
}

}  // namespace firetower::daemon
