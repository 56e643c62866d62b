// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/policy/task_filter.h"
#include "daemon/process/cgroup_tree.h"
#include "k8s/policy/enums.h"

namespace firetower::daemon {

// Which parts of a stack are kept.
enum class StackParts : uint8_t { kUserAndKernel, kUser, kKernel };

// Answer of all policies in force about one container.
struct Decision {
  bool sampled = false;
  // Whether any policy takes it is not known yet: what is sampled waits for the answer.
  bool open = false;
  uint32_t frequency_hz = 0;  // the highest rate asked for, below the ceiling
  StackParts stacks = StackParts::kUserAndKernel;
  bool to_metrics = true;
  bool to_store = true;
  // Which of its tasks, on which CPUs; unset: all on all.
  std::shared_ptr<const TaskFilter> filter;
  // How far back the flight recorder keeps what is sampled of it, for captures; 0: it does not.
  int64_t record_ns = 0;
  // Policies that have it recorded: captures of other policies leave it out.
  std::vector<std::string> recorded_for;
  size_t top_functions = 0;  // the most asked for; 0: nobody said
  k8s::RetentionClass retention = k8s::RetentionClass::kStandard;  // the longest asked for
  std::vector<std::string> policies;                               // names of those that asked

  bool operator==(const Decision&) const = default;
};

// Whose samples a capture holds: those of one container, else of one pod, else of the node.
struct CaptureSubject {
  std::shared_ptr<const Container> container;
  std::string pod_uid;

  bool Takes(const Container& candidate) const {
    if (container) return &candidate == container.get();
    return pod_uid.empty() || candidate.path.pod_uid == pod_uid;
  }
};

// The policies in force at one moment, made ready to be asked. Immutable; a change is a new one.
class Selection {
 public:
  virtual ~Selection() = default;
  virtual Decision Decide(const Container& container) const = 0;
  // The rate the events run at: the highest that Decide can answer; at least 1.
  virtual uint32_t frequency_hz() const = 0;
  // True if every container is sampled at frequency_hz(): nothing needs a verdict of its own.
  virtual bool everything() const = 0;
  // True if any decision may have a filter.
  virtual bool filters() const { return false; }
  // The CPUs that any policy wants samples of; unset: all. None: nothing is sampled.
  virtual std::optional<CpuSet> cpus() const { return std::nullopt; }
};

// Without a policy: everything, always, at one rate.
std::shared_ptr<const Selection> SelectEverything(uint32_t frequency_hz);

}  // namespace firetower::daemon
