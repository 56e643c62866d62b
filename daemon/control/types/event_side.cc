// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/types/event_side.h"

#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "daemon/capture/cpu_list.h"
#include "daemon/capture/events/event_names.h"
#include "daemon/capture/map_array.h"

namespace firetower::daemon {
namespace {

void Add(const EventCounters& one, EventCounters& sum) {
  sum.missed += one.missed;
  AddCounters(one.counters, sum.counters);
}

// The online CPUs that `wanted` holds.
Result<std::vector<int>> CpusOf(const std::string& sys_root, const WantedEvent& wanted) {
  const std::string path = sys_root + "/devices/system/cpu/online";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(std::vector<int> cpus, ParseCpuList(text).Context(path));
  if (wanted.cpus)
    std::erase_if(cpus, [&](int cpu) { return !wanted.cpus->test(static_cast<size_t>(cpu)); });
  return cpus;
}

}  // namespace

void EventSide::Fails(const std::string& name, const Error& error) {
  const auto [entry, inserted] = failures_.try_emplace(name, error.message());
  if (inserted)
    LOG(kError, "an event is not sampled", {{"event", name}, {"error", error.message()}});
}

Status EventSide::Load(size_t slot, const std::string& name, Open& open) {
  ASSIGN_OR_RETURN(const EventSource source, ResolveEvent(name, sys_root_));
  ASSIGN_OR_RETURN(std::unique_ptr<EventPrograms> programs,
                   EventPrograms::Load(sampler_, static_cast<uint32_t>(slot), source));
  std::lock_guard lock(mutex_);
  open.programs = std::move(programs);
  return OkStatus();
}

void EventSide::Close(Open& open) {
  failures_.erase(open.name);
  open.name.clear();
  if (!open.programs) return;
  open.programs->Detach();
  std::lock_guard lock(mutex_);
  Add(open.programs->Counters(), gone_);
  open.programs.reset();
}

void EventSide::Want(const WantedEvents& events) {
  for (size_t slot = 0; slot < events.size(); ++slot) {
    Open& open = open_[slot];
    const WantedEvent& event = events[slot];
    if (open.wanted == event) continue;
    open.wanted = event;
    if (event.name.empty()) {
      if (open.programs) open.programs->Detach();
      continue;
    }
    if (open.name != event.name) {
      Close(open);
      open.name = event.name;
      // A kernel that refused once refuses again.
      if (Status loaded = Load(slot, event.name, open); !loaded) Fails(event.name, loaded.error());
    }
    Follow(open);
  }
}

void EventSide::Refresh() {
  for (Open& open : open_) Follow(open);
}

void EventSide::Follow(Open& open) {
  if (!open.programs || open.wanted.name.empty()) return;
  const Result<std::vector<int>> cpus = CpusOf(sys_root_, open.wanted);
  if (!cpus) return;
  if (Status attached = open.programs->Attach(*cpus, open.wanted.rate, clock_.MonotonicNs());
      !attached) {
    Fails(open.wanted.name, attached.error());
  } else {
    failures_.erase(open.wanted.name);
  }
}

EventCounters EventSide::Counters() const {
  std::lock_guard lock(mutex_);
  EventCounters sum = gone_;
  for (const Open& open : open_) {
    if (open.programs) Add(open.programs->Counters(), sum);
  }
  return sum;
}

uint64_t EventSide::MapBytes() const {
  std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const Open& open : open_) {
    if (open.programs) bytes += open.programs->MapBytes();
  }
  return bytes;
}

}  // namespace firetower::daemon
