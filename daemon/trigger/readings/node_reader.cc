// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/readings/node_reader.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace firetower::daemon {
namespace {

using k8s::CpuScope;
using k8s::Metric;

constexpr int64_t kSizeAgeNs = 60 * kNsPerSecond;

double TicksPerSecond() {
  static const auto ticks = static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  return ticks;
}

MetricReading Missing(NoReading why) { return {why, 0, 0, 0, 0}; }

// A file that is missing in /proc is not in this kernel.
MetricReading NotRead(NoReading why) {
  return Missing(why == NoReading::kGone ? NoReading::kNotServed : why);
}

}  // namespace

NodeReader::NodeReader(const std::string& proc_root, const Clock& clock, ReadingBuffer& buffer)
    : clock_(clock),
      stat_(proc_root + "/stat", buffer),
      load_(proc_root + "/loadavg", buffer),
      pressure_{CounterFile(proc_root + "/pressure/cpu", buffer),
                CounterFile(proc_root + "/pressure/memory", buffer),
                CounterFile(proc_root + "/pressure/io", buffer)},
      schedstat_(proc_root + "/schedstat", buffer),
      meminfo_(proc_root + "/meminfo", buffer) {}

MetricReading NodeReader::Read(Metric metric, CpuScope cpus, int64_t moment_ns) {
  if (metric == Metric::kNodeCpuUser || metric == Metric::kNodeCpuSystem)
    return ReadCpu(metric == Metric::kNodeCpuSystem, cpus, moment_ns);
  Cached& cached = cached_[static_cast<size_t>(metric)];
  if (cached.moment_ns != moment_ns) cached = {moment_ns, ReadUncached(metric)};
  return cached.reading;
}

MetricReading NodeReader::ReadUncached(Metric metric) {
  switch (metric) {
    case Metric::kNodeLoad:
      return ReadLoad();
    case Metric::kNodeCpuPressure:
      return ReadPressure(0);
    case Metric::kNodeMemoryPressure:
      return ReadPressure(1);
    case Metric::kNodeIoPressure:
      return ReadPressure(2);
    case Metric::kRunQueueDelay:
      return ReadRunDelay();
    default:
      return Missing(NoReading::kNotServed);  // Belongs to a container.
  }
}

MetricReading NodeReader::ReadCpu(bool system, CpuScope cpus, int64_t moment_ns) {
  if (last_look_.ticks.empty() || last_look_.moment_ns != moment_ns) {
    const CounterFile::Text text = stat_.Read();
    if (!text) return NotRead(text.missing);
    std::swap(look_before_, last_look_);
    last_look_.at_ns = clock_.MonotonicNs();
    last_look_.moment_ns = moment_ns;
    ParseCpuTicks(text.text, last_look_.ticks);
    if (last_look_.ticks.empty()) return Missing(NoReading::kUnreadable);
  }
  const std::vector<CpuTicks>& before = look_before_.ticks;
  const std::vector<CpuTicks>& now = last_look_.ticks;
  // CPUs came or went: the indices are not those of the last look.
  if (before.size() != now.size()) return Missing(NoReading::kFirst);
  uint64_t sum = 0;
  uint64_t most = 0;
  for (size_t i = 0; i < now.size(); ++i) {
    const uint64_t from = system ? before[i].system : before[i].user;
    const uint64_t to = system ? now[i].system : now[i].user;
    const uint64_t grown = to > from ? to - from : 0;  // Some kernels set them back a tick or two.
    sum += grown;
    most = std::max(most, grown);
  }
  MetricReading reading{NoReading::kNone, 0, 0, look_before_.at_ns, last_look_.at_ns};
  const double seconds = static_cast<double>(reading.at_ns - reading.from_ns) / kNsPerSecond;
  if (seconds <= 0) return Missing(NoReading::kUnreadable);
  const bool any = cpus == CpuScope::kAny;
  reading.value = static_cast<double>(any ? most : sum) / TicksPerSecond() / seconds;
  reading.utilization_percent = 100 * reading.value / (any ? 1 : static_cast<double>(now.size()));
  return reading;
}

MetricReading NodeReader::ReadLoad() {
  const CounterFile::Text text = load_.Read();
  if (!text) return NotRead(text.missing);
  const std::optional<double> load = ParseLoadAverage(text.text);
  const double cpus = Cpus();
  if (!load || cpus == 0) return Missing(NoReading::kUnreadable);
  const int64_t now_ns = clock_.MonotonicNs();
  return {NoReading::kNone, 100 * *load / cpus, *load, now_ns, now_ns};
}

MetricReading NodeReader::ReadPressure(size_t resource) {
  const CounterFile::Text text = pressure_[resource].Read();
  if (!text) return NotRead(text.missing);
  const std::optional<uint64_t> total_us = ParsePressureTotalUs(text.text);
  if (!total_us) return Missing(NoReading::kUnreadable);
  const Rate::Growth growth = pressure_rates_[resource].Step(*total_us, clock_.MonotonicNs());
  if (!growth) return Missing(growth.missing);
  return {NoReading::kNone, growth.PerSecond() / 1e6 * 100, 0, growth.from_ns, growth.at_ns};
}

MetricReading NodeReader::ReadRunDelay() {
  const CounterFile::Text text = schedstat_.Read();
  if (!text) return NotRead(text.missing);
  const std::optional<RunDelay> delay = ParseRunDelay(text.text);
  if (!delay) return Missing(NoReading::kUnreadable);
  const int64_t now_ns = clock_.MonotonicNs();
  const Rate::Growth wait = wait_rate_.Step(delay->wait_ns, now_ns);
  const Rate::Growth runs = run_rate_.Step(delay->runs, now_ns);
  const double cpus = Cpus();
  if (!wait || !runs) return Missing(wait ? runs.missing : wait.missing);
  if (cpus == 0) return Missing(NoReading::kUnreadable);
  MetricReading reading{NoReading::kNone, 0, 0, wait.from_ns, wait.at_ns};
  reading.utilization_percent = wait.PerSecond() / 1e9 / cpus * 100;
  if (runs.amount > 0)
    reading.value = static_cast<double>(wait.amount) / 1e9 / static_cast<double>(runs.amount);
  return reading;
}

bool NodeReader::IsStale(Size& size) const {
  const int64_t now_ns = clock_.MonotonicNs();
  if (size.read_ns && now_ns - *size.read_ns < kSizeAgeNs) return false;
  size.read_ns = now_ns;
  return true;
}

double NodeReader::Cpus() {
  if (!IsStale(cpus_)) return cpus_.number;
  std::vector<CpuTicks> ticks;
  if (const CounterFile::Text text = stat_.Read()) ParseCpuTicks(text.text, ticks);
  if (!ticks.empty()) cpus_.number = static_cast<double>(ticks.size());
  return cpus_.number;
}

double NodeReader::MemoryBytes() {
  if (!IsStale(memory_)) return memory_.number;
  const CounterFile::Text text = meminfo_.Read();
  if (const std::optional<uint64_t> bytes = text ? ParseMemoryTotalBytes(text.text) : std::nullopt)
    memory_.number = static_cast<double>(*bytes);
  return memory_.number;
}

}  // namespace firetower::daemon
