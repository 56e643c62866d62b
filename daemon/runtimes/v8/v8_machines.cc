// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/v8/v8_machines.h"

namespace firetower::daemon {

const V8Build* V8Machines::BuildOf(uint32_t module) const {
  const auto found = libraries_.find(module);
  return found != libraries_.end() ? &found->second : nullptr;
}

bool V8Machines::Meet(uint32_t pid, uint32_t identity, uint32_t library, const ft_v8& walk) {
  const V8Build* build = BuildOf(library);
  if (build == nullptr || (!machines_.contains(pid) && machines_.size() >= kMax)) return false;
  Machine& machine = machines_[pid];
  if (machine.identity != identity || machine.names == nullptr)
    machine = {identity, {}, std::make_unique<V8Names>(*build), open_(pid)};
  machine.walk = walk;
  return true;
}

const ft_v8* V8Machines::Find(uint32_t pid, uint32_t identity) const {
  const auto found = machines_.find(pid);
  if (found == machines_.end() || found->second.identity != identity) return nullptr;
  return &found->second.walk;
}

std::vector<RuntimePlace> V8Machines::Name(uint32_t pid, uint32_t identity, const V8Frame& frame) {
  const auto found = machines_.find(pid);
  if (found == machines_.end() || found->second.identity != identity) return {};
  return found->second.names->Find(*found->second.memory, frame);
}

}  // namespace firetower::daemon
