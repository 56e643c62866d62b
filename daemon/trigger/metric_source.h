// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "daemon/process/cgroup_tree.h"
#include "k8s/policy/enums.h"

namespace firetower::daemon {

// The reason why there is no reading.
enum class NoReading : uint8_t {
  kNone,        // there is one
  kFirst,       // a rate needs two looks
  kGone,        // the cgroup is not there (any more)
  kUnreadable,  // the file could not be read, makes no sense, or its counter was set back
  kNotServed,   // this kernel or hierarchy does not have it, and will not
};

// A reading of a metric. A rate is the mean over from_ns..at_ns, two moments of the monotonic
// clock; a level (memory, load) has from_ns == at_ns. docs/triggers.md has the units.
struct MetricReading {
  NoReading missing = NoReading::kNone;
  double utilization_percent = 0;
  double value = 0;  // OOMKill: kills since the container is watched
  int64_t from_ns = 0;
  int64_t at_ns = 0;

  explicit operator bool() const { return missing == NoReading::kNone; }
};

// A container or systemd unit whose metrics are read.
struct MeasuredContainer {
  std::shared_ptr<const Container> container;
  int64_t cpu_request_millis = 0;    // 0: none, or not known
  int64_t memory_request_bytes = 0;  // likewise
};

// Source of readings: the kernel's files, or a test's table. Each metric is read once per moment
// `now_ns`, however many callers ask.
class MetricSource {
 public:
  virtual ~MetricSource() = default;
  // Sets the containers to read from now on, identified by their root_path.
  virtual void Watch(const std::vector<MeasuredContainer>& containers) = 0;
  virtual MetricReading ReadContainer(const Container& container, k8s::Metric metric,
                                      int64_t now_ns) = 0;
  virtual MetricReading ReadNode(k8s::Metric metric, k8s::CpuScope cpus, int64_t now_ns) = 0;
  // Returns a text for people after kNotServed: the missing file, and how to get it.
  virtual std::string_view NotServedReason(k8s::Metric metric) const = 0;
};

}  // namespace firetower::daemon
