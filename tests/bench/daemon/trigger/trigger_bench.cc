// SPDX-License-Identifier: Apache-2.0
// The cost of armed triggers: 30 containers, three rules each, once a second. Reads files of real
// cgroups if this process may create them (root), else files of a folder, which are cheaper to
// read. Each line is `metric value limit verdict`.
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "daemon/trigger/readings/kernel_metrics.h"
#include "daemon/trigger/triggers.h"
#include "tests/bench/pairs.h"

namespace firetower::daemon {
namespace {

constexpr int kContainers = 30;
// A look a second may cost this much of one CPU; half of it of two.
constexpr double kMostPercentOfACpu = 0.05;

int64_t ThreadCpuNs() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * kNsPerSecond + used.tv_nsec;
}

// 30 cgroups in each of the machine's hierarchies, gone with the object.
class Cgroups {
 public:
  explicit Cgroups(const CgroupRoots& roots)
      : roots_{roots.v2, roots.v1_cpu, roots.v1_cpuacct, roots.v1_memory} {
    roots_.erase("");
    Make("/kubepods");
    Make("/kubepods/burstable");
    for (int i = 0; i < kContainers; ++i) {
      const std::string pod =
          fmt::format("/kubepods/burstable/pod{:08x}-0000-4000-8000-62656e636800", i);
      Make(pod);
      auto container = std::make_shared<Container>();
      container->root_path = pod + "/" + std::string(64, 'b');
      container->path = k8s::ParseCgroupPath(container->root_path);
      Make(container->root_path);
      containers_.push_back(std::move(container));
    }
  }
  ~Cgroups() {
    for (auto path = made_.rbegin(); path != made_.rend(); ++path) ::rmdir(path->c_str());
  }

  const std::vector<std::shared_ptr<const Container>>& containers() const { return containers_; }
  bool real() const { return !made_.empty(); }

 private:
  void Make(const std::string& path) {
    for (const std::string& root : roots_) {
      if (::mkdir((root + path).c_str(), 0755) == 0) made_.push_back(root + path);
    }
  }

  std::set<std::string> roots_;
  std::vector<std::string> made_;
  std::vector<std::shared_ptr<const Container>> containers_;
};

ArmedPolicy Policy() {
  auto policy = std::make_shared<k8s::ProfilingPolicy>();
  policy->name = "bench";
  policy->spec.mode = k8s::Mode::kTrigger;
  k8s::TriggerSpec& trigger = policy->spec.trigger.emplace();
  for (const k8s::Metric metric : {k8s::Metric::kContainerCpu, k8s::Metric::kContainerCpuThrottled,
                                   k8s::Metric::kContainerMemory}) {
    k8s::TriggerRule& rule = trigger.rules.emplace_back();
    rule.name = k8s::EnumName(metric);
    rule.metric = metric;
    rule.op = k8s::Operator::kGreaterThan;
    rule.target = k8s::TriggerTarget{k8s::TargetType::kUtilization, 10000, std::nullopt};
  }
  return policy;
}

int Run() {
  const CgroupRoots roots =
      CgroupRootsOf(ReadFile("/proc/self/mountinfo").value_or(""), "/sys/fs/cgroup");
  const Cgroups cgroups(roots);
  if (!cgroups.real()) {
    fmt::print("SKIP bench.trigger: no cgroups can be made here\n");
    return 77;
  }
  KernelMetrics metrics("/proc", roots, Clock::System());
  Triggers triggers(metrics);
  std::vector<WatchedContainer> watched;
  for (const auto& container : cgroups.containers()) watched.push_back({container, nullptr, {0}});
  triggers.Arm({Policy()}, watched);
  const int rounds = bench::Pick(2000, 20);
  std::vector<double> ns;
  uint64_t fired = 0;
  for (int i = 0; i < rounds; ++i) {
    const int64_t now_ns = Clock::System().MonotonicNs();
    const int64_t before_ns = ThreadCpuNs();
    fired += triggers.Evaluate(now_ns, 0).size();
    ns.push_back(static_cast<double>(ThreadCpuNs() - before_ns));
  }
  // The counts are those of the last look alone; the first one has no rates yet.
  const uint64_t compared = triggers.Counts().at(0).counts.evaluations;
  const double median = bench::Median(ns);
  const double percent = median / 1e9 * 100;
  const bool holds = percent <= kMostPercentOfACpu;
  fmt::print("trigger_readings_a_second {} - -\n", compared);
  fmt::print("trigger_look_us {:.1f} - -\n", median / 1e3);
  fmt::print("trigger_look_us_p99 {:.1f} - -\n", [&] {
    std::nth_element(ns.begin(), ns.begin() + rounds * 99 / 100, ns.end());
    return ns[rounds * 99 / 100] / 1e3;
  }());
  fmt::print("trigger_percent_of_a_cpu {:.4f} <={} {}\n", percent, kMostPercentOfACpu,
             bench::Verdict(holds));
  // A look that finds nothing to compare costs nothing, and a fired rule would mean a wrong
  // reading.
  const bool compares = compared >= kContainers && fired == 0;
  if (!compares) fmt::print("FAIL bench.trigger: {} compared, {} fired\n", compared, fired);
  return compares && bench::Passes(holds) ? 0 : 1;
}

}  // namespace
}  // namespace firetower::daemon

int main() { return firetower::daemon::Run(); }
