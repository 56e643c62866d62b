// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/address_spaces.h"

#include <algorithm>
#include <cstring>

namespace firetower::daemon {
namespace {

// The kernel side reads these while we write.
void Store(uint32_t& to, uint32_t value) { __atomic_store_n(&to, value, __ATOMIC_RELEASE); }

}  // namespace

std::shared_ptr<const AddressSpace> AddressSpaces::Write(const Process& process,
                                                         const TraceVariable& trace) {
  const std::vector<ProcessMapping>& mappings = *process.mappings;
  auto count = static_cast<uint32_t>(std::min<size_t>(mappings.size(), FT_MAX_MAPPINGS));
  uint64_t starts_bytes = FT_STARTS_BYTES(count);
  std::optional<uint32_t> position =
      arena_.Allocate(starts_bytes + uint64_t{count} * sizeof(ft_mapping));
  if (!position) return nullptr;
  auto* head = reinterpret_cast<ft_space*>(arena_.At(*position));
  auto* starts = reinterpret_cast<uint64_t*>(head + 1);
  auto* out = reinterpret_cast<ft_mapping*>(arena_.At(*position) + starts_bytes);
  *head = {count, trace.offset, trace.module, trace.kind, trace.dtv_bytes, 0};
  for (uint32_t i = 0; i < count; ++i) {
    const ProcessMapping& mapping = mappings[i];
    starts[i] = mapping.start;
    out[i] = {mapping.end, mapping.start - mapping.file_offset, mapping.module, 0, 0};
  }
  auto give_back = [this](const AddressSpace* space) {
    arena_.Free(space->position, clock_.MonotonicNs());
    delete space;
  };
  return {new AddressSpace{*position, count, process.mappings}, give_back};
}

ft_process* AddressSpaces::FreeWay(uint32_t pid) {
  for (uint32_t choice = 0; choice < 2; ++choice) {
    for (ft_process& way : memory_.processes()[ft_bucket(pid, choice)].way) {
      if (way.tgid == 0) return &way;
    }
  }
  return nullptr;
}

std::shared_ptr<const AddressSpace> AddressSpaces::Publish(const Process& process,
                                                           const TraceVariable& trace) {
  auto [it, inserted] = published_.try_emplace(process.pid);
  Entry& entry = it->second;
  if (inserted) entry.way = FreeWay(process.pid);
  bool stale = entry.way != nullptr &&
               (!entry.space || entry.generation != process.generation || entry.trace != trace);
  std::shared_ptr<const AddressSpace> space = stale ? Write(process, trace) : entry.space;
  if (!space) {
    ++refused_;
    Withdraw(process.pid);
    return nullptr;
  }
  entry.generation = process.generation;
  entry.trace = trace;
  // The old list stays valid for a grace after this: a walk may be in it.
  if (entry.identity != process.identity) {
    Store(entry.way->machine, 0);
    entry.machine = nullptr;
    entry.identity = process.identity;
  }
  Store(entry.way->mappings, space->position);
  Store(entry.way->identity, process.identity);
  Store(entry.way->tgid, process.pid);
  entry.space = space;
  return space;
}

bool AddressSpaces::SetMachine(uint32_t pid, std::span<const std::byte> machine) {
  const auto found = published_.find(pid);
  if (found == published_.end() || found->second.way == nullptr) return false;
  Entry& entry = found->second;
  if (entry.machine != nullptr &&
      std::memcmp(arena_.At(entry.way->machine), machine.data(), machine.size()) == 0)
    return true;
  // The walk reads it at a multiple of its size.
  const auto size = static_cast<uint32_t>(machine.size());
  const std::optional<uint32_t> position = arena_.Allocate(2 * size);
  if (!position) return false;
  const uint32_t at = (*position + size - 1) & ~(size - 1);
  std::memcpy(arena_.At(at), machine.data(), size);
  // The one before stays valid for a grace: a walk may be in it.
  Store(entry.way->machine, at);
  entry.machine = {new uint32_t(*position), [this](const uint32_t* of) {
                     arena_.Free(*of, clock_.MonotonicNs());
                     delete of;
                   }};
  return true;
}

bool AddressSpaces::HasMachine(uint32_t pid) const {
  const auto found = published_.find(pid);
  return found != published_.end() && found->second.machine != nullptr;
}

void AddressSpaces::Withdraw(uint32_t pid) {
  auto found = published_.find(pid);
  if (found == published_.end()) return;
  if (found->second.way != nullptr) {
    Store(found->second.way->tgid, 0);
    Store(found->second.way->machine, 0);
  }
  published_.erase(found);
}

}  // namespace firetower::daemon
