// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/readings/container_reader.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "daemon/trigger/readings/kernel_text.h"

namespace firetower::daemon {
namespace {

using k8s::Metric;

MetricReading Missing(NoReading why) { return {why, 0, 0, 0, 0}; }

std::string PathOf(const Container& container) {
  return container.root_path == "/" ? "" : container.root_path;
}

std::string PodPathOf(const Container& container) {
  if (container.path.pod_uid.empty()) return "";
  return container.root_path.substr(0, container.root_path.rfind('/'));
}

// In `v1` where the controller has a hierarchy of its own, else in v2.
std::string Pick(const std::string& path, const std::string& v1, const char* v1_name,
                 const std::string& v2, const char* v2_name) {
  return v1.empty() ? v2 + path + "/" + v2_name : v1 + path + "/" + v1_name;
}

}  // namespace

ContainerReader::ContainerReader(const CgroupRoots& roots, const Clock& clock, NodeReader& node,
                                 ReadingBuffer& buffer, MeasuredContainer measured)
    : roots_(roots),
      clock_(clock),
      node_(node),
      buffer_(buffer),
      measured_(std::move(measured)),
      path_(PathOf(*measured_.container)),
      pod_path_(PodPathOf(*measured_.container)),
      v1_cpuacct_(!roots.v1_cpuacct.empty()),
      v1_cpu_(!roots.v1_cpu.empty()),
      v1_memory_(!roots.v1_memory.empty()),
      usage_(Pick(path_, roots.v1_cpuacct, "cpuacct.usage", roots.v2, "cpu.stat"), buffer),
      cpu_stat_(Pick(path_, roots.v1_cpu, "cpu.stat", roots.v2, "cpu.stat"), buffer),
      memory_(Pick(path_, roots.v1_memory, "memory.usage_in_bytes", roots.v2, "memory.current"),
              buffer),
      memory_stat_(Pick(path_, roots.v1_memory, "memory.stat", roots.v2, "memory.stat"), buffer),
      events_(Pick(path_, roots.v1_memory, "memory.oom_control", roots.v2, "memory.events"),
              buffer),
      pressure_{CounterFile(Folder(roots.v2) + "/cpu.pressure", buffer),
                CounterFile(Folder(roots.v2) + "/memory.pressure", buffer),
                CounterFile(Folder(roots.v2) + "/io.pressure", buffer)} {}

void ContainerReader::SetRequests(int64_t cpu_millis, int64_t memory_bytes) {
  measured_.cpu_request_millis = cpu_millis;
  measured_.memory_request_bytes = memory_bytes;
}

MetricReading ContainerReader::Read(Metric metric, int64_t moment_ns) {
  if (static_cast<size_t>(metric) >= kMetrics) return Missing(NoReading::kNotServed);
  Cached& cached = cached_[static_cast<size_t>(metric)];
  if (cached.moment_ns != moment_ns) cached = {moment_ns, ReadUncached(metric)};
  return cached.reading;
}

MetricReading ContainerReader::ReadUncached(Metric metric) {
  switch (metric) {
    case Metric::kContainerCpu:
      return ReadCpu();
    case Metric::kContainerCpuThrottled:
      return ReadThrottled();
    case Metric::kContainerMemory:
      return ReadMemory();
    case Metric::kContainerCpuPressure:
      return ReadPressure(0);
    case Metric::kContainerMemoryPressure:
      return ReadPressure(1);
    case Metric::kContainerIoPressure:
      return ReadPressure(2);
    default:
      return Missing(NoReading::kNotServed);
  }
}

MetricReading ContainerReader::ReadCpu() {
  const CounterFile::Text text = usage_.Read();
  if (!text) return NotRead(text.missing);
  const int64_t now_ns = clock_.MonotonicNs();
  const std::optional<uint64_t> used =
      v1_cpuacct_ ? ParseCount(text.text) : FindCount(text.text, "usage_usec");
  if (!used) return Missing(NoReading::kUnreadable);
  const Rate::Growth growth = usage_rate_.Step(*used, now_ns);
  if (!growth) return Missing(growth.missing);
  const double cores = growth.PerSecond() / (v1_cpuacct_ ? 1e9 : 1e6);
  double whole = CpuLimit();
  if (whole == 0) whole = static_cast<double>(measured_.cpu_request_millis) / 1000;
  if (whole == 0) whole = node_.Cpus();
  if (whole == 0) return Missing(NoReading::kUnreadable);
  return {NoReading::kNone, 100 * cores / whole, cores, growth.from_ns, growth.at_ns};
}

MetricReading ContainerReader::ReadThrottled() {
  const CounterFile::Text text = cpu_stat_.Read();
  if (!text) return NotRead(text.missing);
  const int64_t now_ns = clock_.MonotonicNs();
  const std::optional<uint64_t> periods = FindCount(text.text, "nr_periods");
  const std::optional<uint64_t> throttled = FindCount(text.text, "nr_throttled");
  const std::optional<uint64_t> time =
      FindCount(text.text, v1_cpu_ ? "throttled_time" : "throttled_usec");
  // Without the cpu controller v2's cpu.stat has the usage alone.
  if (!periods || !throttled || !time) return Missing(NoReading::kNotServed);
  const Rate::Growth all = periods_rate_.Step(*periods, now_ns);
  const Rate::Growth held = throttled_rate_.Step(*throttled, now_ns);
  const Rate::Growth held_time = throttled_time_rate_.Step(*time, now_ns);
  for (const Rate::Growth& growth : {all, held, held_time}) {
    if (!growth) return Missing(growth.missing);
  }
  MetricReading reading{NoReading::kNone, 0, held_time.PerSecond() / (v1_cpu_ ? 1e9 : 1e6),
                        all.from_ns, all.at_ns};
  if (all.amount > 0) {
    reading.utilization_percent =
        100 * static_cast<double>(held.amount) / static_cast<double>(all.amount);
  }
  return reading;
}

MetricReading ContainerReader::ReadMemory() {
  const CounterFile::Text usage_text = memory_.Read();
  if (!usage_text) return NotRead(usage_text.missing);
  const std::optional<uint64_t> usage = ParseCount(usage_text.text);
  const CounterFile::Text stat_text = memory_stat_.Read();
  if (!stat_text) return NotRead(stat_text.missing);
  const int64_t now_ns = clock_.MonotonicNs();
  const std::optional<uint64_t> inactive_file =
      FindCount(stat_text.text, v1_memory_ ? "total_inactive_file" : "inactive_file");
  if (!usage || !inactive_file) return Missing(NoReading::kUnreadable);
  const auto bytes = static_cast<double>(*usage - std::min(*usage, *inactive_file));
  double whole = MemoryLimit();
  if (whole == 0) whole = static_cast<double>(measured_.memory_request_bytes);
  if (whole == 0) whole = node_.MemoryBytes();
  if (whole == 0) return Missing(NoReading::kUnreadable);
  return {NoReading::kNone, 100 * bytes / whole, bytes, now_ns, now_ns};
}

MetricReading ContainerReader::ReadPressure(size_t resource) {
  if (roots_.v2.empty() || (roots_.hybrid() && !RunsInV2()))
    return NotRead(Exists() ? NoReading::kNotServed : NoReading::kGone);
  const CounterFile::Text text = pressure_[resource].Read();
  if (!text) return NotRead(text.missing);
  const int64_t now_ns = clock_.MonotonicNs();
  const std::optional<uint64_t> total_us = ParsePressureTotalUs(text.text);
  if (!total_us) return Missing(NoReading::kUnreadable);
  const Rate::Growth growth = pressure_rates_[resource].Step(*total_us, now_ns);
  if (!growth) return Missing(growth.missing);
  return {NoReading::kNone, growth.PerSecond() / 1e6 * 100, 0, growth.from_ns, growth.at_ns};
}

const ContainerReader::Kills& ContainerReader::ReadKills(int64_t moment_ns) {
  if (kills_moment_ns_ == moment_ns) return kills_;
  kills_moment_ns_ = moment_ns;
  const CounterFile::Text text = events_.Read();
  if (!text) {
    kills_.missing = NotRead(text.missing).missing;
    return kills_;
  }
  const std::optional<uint64_t> count = FindCount(text.text, "oom_kill");
  kills_.missing = count ? NoReading::kNone : NoReading::kUnreadable;
  if (!count) return kills_;
  // A new cgroup with the same name counts from 0.
  const uint64_t before = kills_counted_.value_or(*count);
  kills_.count += *count >= before ? *count - before : *count;
  kills_counted_ = count;
  return kills_;
}

// A file that is not there though its cgroup is will not come.
MetricReading ContainerReader::NotRead(NoReading why) const {
  return Missing(why == NoReading::kGone && Exists() ? NoReading::kNotServed : why);
}

bool ContainerReader::Exists() const {
  const auto there = [this](const std::string& root) {
    return !root.empty() && ::access(Folder(root).c_str(), F_OK) == 0;
  };
  return there(roots_.v1_cpuacct) || there(roots_.v1_cpu) || there(roots_.v1_memory) ||
         there(roots_.v2);
}

bool ContainerReader::IsStale(std::optional<int64_t>& read_ns) const {
  const int64_t now_ns = clock_.MonotonicNs();
  if (read_ns && now_ns - *read_ns < kLimitAgeNs) return false;
  read_ns = now_ns;
  return true;
}

double ContainerReader::CpuLimit() {
  if (!IsStale(cpu_limit_.read_ns)) return cpu_limit_.amount;
  cpu_limit_.amount = CpuLimitOf(path_);
  if (cpu_limit_.amount == 0 && !pod_path_.empty()) cpu_limit_.amount = CpuLimitOf(pod_path_);
  return cpu_limit_.amount;
}

double ContainerReader::CpuLimitOf(const std::string& path) const {
  if (!v1_cpu_) {
    const auto text = CounterFile(roots_.v2 + path + "/cpu.max", buffer_).Read();
    return text ? ParseCpuMax(text.text).value_or(0) : 0;
  }
  const auto count = [&](const char* name) -> double {
    CounterFile file(roots_.v1_cpu + path + "/" + name, buffer_);
    const auto text = file.Read();
    return text ? static_cast<double>(ParseCount(text.text).value_or(0)) : 0;
  };
  const double period = count("cpu.cfs_period_us");
  return period > 0 ? count("cpu.cfs_quota_us") / period : 0;
}

double ContainerReader::MemoryLimit() {
  if (!IsStale(memory_limit_.read_ns)) return memory_limit_.amount;
  memory_limit_.amount = MemoryLimitOf(path_);
  if (memory_limit_.amount == 0 && !pod_path_.empty())
    memory_limit_.amount = MemoryLimitOf(pod_path_);
  return memory_limit_.amount;
}

double ContainerReader::MemoryLimitOf(const std::string& path) const {
  CounterFile file(Pick(path, roots_.v1_memory, "memory.limit_in_bytes", roots_.v2, "memory.max"),
                   buffer_);
  const auto text = file.Read();
  return text ? static_cast<double>(ParseMemoryMax(text.text).value_or(0)) : 0;
}

// Beside v1 a container may have a folder in v2 and no process there: nothing would ever wait.
bool ContainerReader::RunsInV2() {
  if (!IsStale(populated_read_ns_)) return runs_in_v2_;
  CounterFile file(Folder(roots_.v2) + "/cgroup.events", buffer_);
  const auto text = file.Read();
  runs_in_v2_ = text && FindCount(text.text, "populated") == uint64_t{1};
  return runs_in_v2_;
}

}  // namespace firetower::daemon
