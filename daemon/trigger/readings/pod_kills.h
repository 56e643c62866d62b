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

// The OOM kills of one container of a pod.
struct KillMember {
  ContainerReader* reader = nullptr;
  uint64_t seen = 0;      // of its own count
  uint64_t assigned = 0;  // reported only by the pod
  std::optional<int64_t> gone_since_ns;
  bool closed = false;  // it is gone, and its kills are assigned

  uint64_t kills() const { return seen + assigned; }
};

// The OOM kills that a pod's cgroup counts in v2. It includes those of its containers, and still
// exists when a container is gone whose main process was killed. A kill that no container's cgroup
// shows is assigned to the watched container that ended. If none ends within kWaitNs, the kill was
// in a container that is not watched.
class PodKills {
 public:
  static constexpr int64_t kWaitNs = 3'000'000'000;

  // `events_path` is the pod's memory.events.
  PodKills(std::string events_path, ReadingBuffer& buffer)
      : events_(std::move(events_path), buffer) {}

  // Reads the pod and all its watched containers.
  void Look(const std::vector<KillMember*>& members, int64_t moment_ns);

 private:
  CounterFile events_;
  std::optional<uint64_t> counted_;  // as its file had it last
  uint64_t reported_ = 0;
  uint64_t explained_ = 0;
  std::optional<int64_t> unexplained_since_ns_;
};

}  // namespace firetower::daemon
