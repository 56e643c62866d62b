// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/readings/kernel_metrics.h"

#include <optional>
#include <utility>

namespace firetower::daemon {

using k8s::Metric;

struct KernelMetrics::Watched {
  Watched(const CgroupRoots& roots, const Clock& clock, NodeReader& node, ReadingBuffer& buffer,
          const MeasuredContainer& measured)
      : reader(roots, clock, node, buffer, measured) {
    kills.reader = &reader;
  }

  ContainerReader reader;
  KillMember kills;
  Pod* pod = nullptr;
};

struct KernelMetrics::Pod {
  Pod(std::string events_path, ReadingBuffer& buffer) : kills(std::move(events_path), buffer) {}

  PodKills kills;
  std::vector<KillMember*> members;
  std::optional<int64_t> moment_ns;  // of the last look
};

KernelMetrics::KernelMetrics(const std::string& proc_root, CgroupRoots roots, const Clock& clock)
    : roots_(std::move(roots)), clock_(clock), node_(proc_root, clock, buffer_) {}

KernelMetrics::~KernelMetrics() = default;

void KernelMetrics::Watch(const std::vector<MeasuredContainer>& containers) {
  auto before = std::exchange(watched_, {});
  auto pods_before = std::exchange(pods_, {});
  for (const MeasuredContainer& measured : containers) {
    const std::string& path = measured.container->root_path;
    auto node = before.extract(path);
    const bool known = !node.empty();
    if (known) {
      watched_.insert(std::move(node));
    } else {
      watched_.emplace(path, std::make_unique<Watched>(roots_, clock_, node_, buffer_, measured));
    }
    Watched& watched = *watched_.at(path);
    watched.reader.SetRequests(measured.cpu_request_millis, measured.memory_request_bytes);
    watched.pod = nullptr;
    // v1 counts a kill in the victim's own cgroup alone.
    if (!roots_.v1_memory.empty() || measured.container->path.pod_uid.empty()) continue;
    const std::string pod_path = path.substr(0, path.rfind('/'));
    if (auto pod = pods_before.extract(pod_path)) {
      pod.mapped()->members.clear();
      pods_.insert(std::move(pod));
    }
    std::unique_ptr<Pod>& pod = pods_[pod_path];
    if (!pod) pod = std::make_unique<Pod>(roots_.v2 + pod_path + "/memory.events", buffer_);
    pod->members.push_back(&watched.kills);
    watched.pod = pod.get();
  }
}

MetricReading KernelMetrics::ReadContainer(const Container& container, Metric metric,
                                           int64_t now_ns) {
  const auto found = watched_.find(container.root_path);
  if (found == watched_.end()) return {NoReading::kGone, 0, 0, 0, 0};
  if (metric == Metric::kOomKill) return ReadKills(*found->second, now_ns);
  return found->second->reader.Read(metric, now_ns);
}

MetricReading KernelMetrics::ReadKills(Watched& watched, int64_t now_ns) {
  if (watched.pod == nullptr) {
    const ContainerReader::Kills& kills = watched.reader.ReadKills(now_ns);
    return {kills.missing, 0, static_cast<double>(kills.count), now_ns, now_ns};
  }
  if (watched.pod->moment_ns != now_ns) {
    watched.pod->moment_ns = now_ns;
    watched.pod->kills.Look(watched.pod->members, now_ns);
  }
  // Also of one that is gone.
  return {NoReading::kNone, 0, static_cast<double>(watched.kills.kills()), now_ns, now_ns};
}

MetricReading KernelMetrics::ReadNode(Metric metric, k8s::CpuScope cpus, int64_t now_ns) {
  return node_.Read(metric, cpus, now_ns);
}

std::string_view KernelMetrics::NotServedReason(Metric metric) const {
  switch (metric) {
    case Metric::kContainerCpuPressure:
    case Metric::kContainerMemoryPressure:
    case Metric::kContainerIoPressure:
      if (roots_.v2.empty()) return "cgroup v1 has no pressure of containers";
      if (roots_.hybrid())
        return "the containers run in cgroup v1 hierarchies, which have no pressure of containers";
      return "no pressure files: the kernel needs CONFIG_PSI, and maybe psi=1 on its command line";
    case Metric::kContainerCpuThrottled:
      return "cpu.stat has no nr_periods: the kernel needs CONFIG_CFS_BANDWIDTH, the cgroup the "
             "cpu controller";
    case Metric::kContainerMemory:
      return "no memory files: the cgroup needs the memory controller";
    case Metric::kNodeCpuPressure:
    case Metric::kNodeMemoryPressure:
    case Metric::kNodeIoPressure:
      return "no /proc/pressure: the kernel needs CONFIG_PSI, and maybe psi=1 on its command line";
    case Metric::kRunQueueDelay:
      return "no /proc/schedstat: the kernel needs CONFIG_SCHEDSTATS";
    default:
      return "its file is missing";
  }
}

}  // namespace firetower::daemon
