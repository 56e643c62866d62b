// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/hotspot/java_machines.h"

#include <fmt/core.h>

#include "base/log.h"

namespace firetower::daemon {

JavaMachines::State JavaMachines::Look(uint32_t pid, uint32_t identity, uint32_t library,
                                       uint64_t bias) {
  const auto symbols = libraries_.find(library);
  if (symbols == libraries_.end()) return State::kLater;
  if (!machines_.contains(pid) && machines_.size() >= kMax) return State::kUnsupported;
  Machine& machine = machines_[pid];
  if (machine.identity != identity || machine.memory == nullptr) {
    machine = {};
    machine.identity = identity;
    machine.memory = open_(pid);
  }
  if (!machine.why_not.empty()) return State::kUnsupported;
  if (machine.names != nullptr) return State::kReady;
  if (!machine.layout) {
    const auto structs = VmStructs::Read(*machine.memory, symbols->second, bias);
    if (!structs) return State::kLater;  // its relocations may not be applied yet
    auto layout = LayoutOf(*machine.memory, *structs);
    if (!layout && layout.error().code() == ErrorCode::kUnsupported) {
      LOG(kInfo, "a Java machine's functions have no names",
          {{"pid", pid}, {"why", layout.error().message()}});
      machine.why_not = layout.error().message();
      return State::kUnsupported;
    }
    if (!layout) return State::kLater;
    machine.layout = *std::move(layout);
  }
  const auto walk = FillPlaces(*machine.memory, *machine.layout);
  if (!walk) return State::kLater;
  machine.names = std::make_unique<JavaNames>(*machine.layout, *walk);
  return State::kReady;
}

std::string JavaMachines::VersionOf(uint32_t pid) const {
  const auto found = machines_.find(pid);
  if (found == machines_.end() || !found->second.layout) return "HotSpot";
  return fmt::format("HotSpot {}", found->second.layout->jdk);
}

std::string_view JavaMachines::WhyNot(uint32_t pid) const {
  const auto found = machines_.find(pid);
  return found != machines_.end() ? std::string_view(found->second.why_not) : std::string_view();
}

const ft_hotspot* JavaMachines::Find(uint32_t pid, uint32_t identity) const {
  const auto found = machines_.find(pid);
  if (found == machines_.end() || found->second.identity != identity ||
      found->second.names == nullptr)
    return nullptr;
  return &found->second.names->walk();
}

const std::vector<RuntimePlace>& JavaMachines::Name(uint32_t pid, uint32_t identity, uint64_t word,
                                                    uint64_t where) {
  if (Find(pid, identity) == nullptr) return none_;
  Machine& machine = machines_[pid];
  return machine.names->Find(*machine.memory, word, where);
}

}  // namespace firetower::daemon
