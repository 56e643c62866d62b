// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bpf/abi/record.h"
#include "daemon/capture/events/event_rate.h"
#include "daemon/policy/task_filter.h"
#include "daemon/process/cgroup_tree.h"
#include "k8s/policy/enums.h"

namespace firetower::daemon {

// The parts of a stack that are kept.
enum class StackParts : uint8_t { kUserAndKernel, kUser, kKernel };

// A type of profile, as the kernel side numbers it (enum ft_type).
using Type = uint8_t;
// Tells whether profiles of that type are of waits.
constexpr bool IsWait(Type type) { return type == FT_TYPE_OFFCPU || type == FT_TYPE_LOCK; }

// The decision of all policies in force about one type of profile of one container.
struct Decision {
  bool sampled = false;
  // True while it is not known whether any policy takes the container: samples wait for the answer.
  bool open = false;
  uint32_t frequency_hz = 0;  // FT_TYPE_CPU: the highest rate asked for, below the ceiling
  int64_t min_wait_ns = 0;    // FT_TYPE_OFFCPU, FT_TYPE_LOCK: shorter waits are not told
  int64_t sample_bytes = 0;   // FT_TYPE_MEMORY: one allocated byte in so many is a sample
  bool in_use = false;        // FT_TYPE_MEMORY: and it is followed until it is freed
  std::string event;          // FT_TYPE_EVENT and on: its name
  StackParts stacks = StackParts::kUserAndKernel;
  bool to_metrics = true;
  bool to_store = true;
  // Selects the tasks and CPUs that are sampled; unset: all.
  std::shared_ptr<const TaskFilter> filter;
  // The time for which the flight recorder keeps its samples, for captures; 0: not recorded.
  int64_t record_ns = 0;
  // The policies for which it is recorded. Captures of other policies do not include it.
  std::vector<std::string> recorded_for;
  size_t top_functions = 0;  // the highest requested number; 0: none requested
  k8s::RetentionClass retention = k8s::RetentionClass::kStandard;  // the longest requested one
  std::vector<std::string> policies;                               // names of those that asked

  bool operator==(const Decision&) const = default;
};

// An event to sample.
struct WantedEvent {
  std::string name;  // empty: none
  EventRate rate;
  std::optional<CpuSet> cpus;  // unset: all

  bool operator==(const WantedEvent&) const = default;
};
using WantedEvents = std::array<WantedEvent, FT_MAX_EVENTS>;

// The subject of a capture: one container, else one pod, else the node.
struct CaptureSubject {
  std::shared_ptr<const Container> container;
  std::string pod_uid;

  bool Takes(const Container& candidate) const {
    if (container) return &candidate == container.get();
    return pod_uid.empty() || candidate.path.pod_uid == pod_uid;
  }
};

// The policies in force at one moment, prepared for look-ups. Immutable; each change makes a new
// one.
class Selection {
 public:
  virtual ~Selection() = default;
  Decision Decide(const Container& container, Type type = FT_TYPE_CPU) const {
    return DecideOn(container, type);
  }
  // Returns the rate of the perf events: the highest that Decide can return, at least 1.
  virtual uint32_t frequency_hz() const = 0;
  // Returns true if every container is sampled at frequency_hz(), so that no cgroup needs a
  // verdict.
  virtual bool everything() const = 0;
  // Returns true if any decision may have a filter.
  virtual bool filters() const { return false; }
  // Returns the CPUs that some policy samples; unset: all; empty: nothing is sampled.
  virtual std::optional<CpuSet> cpus() const { return std::nullopt; }
  // Tells whether Decide may want that type of any container.
  virtual bool Samples(Type type) const { return type == FT_TYPE_CPU; }
  // Returns the shortest wait that some policy asks for; unset: none asks for waits.
  virtual std::optional<int64_t> min_wait_ns() const { return std::nullopt; }
  // Returns the events, by type from FT_TYPE_EVENT on.
  virtual WantedEvents events() const { return {}; }

 private:
  virtual Decision DecideOn(const Container& container, Type type) const = 0;
};

// Returns the selection without policies: all CPU time, always, at one rate.
std::shared_ptr<const Selection> SelectEverything(uint32_t frequency_hz);

}  // namespace firetower::daemon
