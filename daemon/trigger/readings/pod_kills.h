// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/trigger/readings/container_reader.h"
#include "daemon/trigger/readings/counter_file.h"

namespace firetower::daemon {

// A container of a pod, as to its OOM kills.
struct KillMember {
  ContainerReader* reader = nullptr;
  uint64_t seen = 0;      // of its own count
  uint64_t assigned = 0;  // that only the pod told of
  std::optional<int64_t> gone_since_ns;
  bool closed = false;  // it went, and had its kills

  uint64_t kills() const { return seen + assigned; }
};

// The OOM kills that a pod's cgroup tells of, in v2: those of its containers too, and it is still
// there when a container is gone whose main process was killed. A kill that no container's cgroup
// shows was in the watched container that went. One for which nobody went within kWaitNs was in a
// container that is not watched.
class PodKills {
 public:
  static constexpr int64_t kWaitNs = 3'000'000'000;

  // `events_path`: memory.events of the pod.
  PodKills(std::string events_path, ReadingBuffer& buffer)
      : events_(std::move(events_path), buffer) {}

  // Looks at the pod and at all its watched containers.
  void Look(const std::vector<KillMember*>& members, int64_t moment_ns);

 private:
  CounterFile events_;
  std::optional<uint64_t> counted_;  // as its file had it last
  uint64_t told_ = 0;
  uint64_t explained_ = 0;
  std::optional<int64_t> unexplained_since_ns_;
};

}  // namespace firetower::daemon
