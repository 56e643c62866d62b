// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "daemon/capture/events/event_programs.h"
#include "daemon/policy/selection.h"

namespace firetower::daemon {

// The programs of the events that policies name. Each is loaded when a policy asks for it for the
// first time, and attached only while one does.
class EventSide {
 public:
  // `sampler` and `clock` must outlive this. `sys_root`: where sysfs is mounted.
  EventSide(BpfSampler& sampler, const Clock& clock, std::string sys_root)
      : sampler_(sampler), clock_(clock), sys_root_(std::move(sys_root)) {}

  // Sets the events, by their types. Control thread.
  void Want(const WantedEvents& events);
  // Follows CPUs that came or went, and tries again what failed on some. Control thread, every few
  // seconds.
  void Refresh();
  // Why events cannot be sampled on this machine, by name, for people. Control thread.
  const std::map<std::string, std::string>& failures() const { return failures_; }

  // Sums since the start. Any thread.
  EventCounters Counters() const;
  uint64_t MapBytes() const;

 private:
  struct Open {
    std::string name;                         // of the programs
    std::unique_ptr<EventPrograms> programs;  // nullptr: it cannot be had here
    WantedEvent wanted;                       // now
  };

  Status Load(size_t slot, const std::string& name, Open& open);
  void Follow(Open& open);
  void Close(Open& open);
  // Notes a failure, and says it once.
  void Fails(const std::string& name, const Error& error);

  BpfSampler& sampler_;
  const Clock& clock_;
  const std::string sys_root_;
  std::map<std::string, std::string> failures_;
  mutable std::mutex mutex_;  // for open_'s programs and gone_: told by the control thread alone
  std::array<Open, FT_MAX_EVENTS> open_;
  EventCounters gone_;  // of those that are closed
};

}  // namespace firetower::daemon
