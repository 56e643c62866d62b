// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/overhead.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/file.h"

namespace firetower::daemon {
namespace {

constexpr size_t kMaxProcBytes = 1 << 20;

int64_t NumberOf(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The n-th word, from 0; "" when there are fewer.
std::string_view Word(std::string_view text, size_t n) {
  for (size_t i = 0;; ++i) {
    size_t start = text.find_first_not_of(" \n");
    if (start == std::string_view::npos) return {};
    text.remove_prefix(start);
    size_t end = text.find_first_of(" \n");
    if (i == n) return text.substr(0, end);
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end);
  }
}

// Field n of a stat file, as proc(5) counts them from 1. The name (2) may hold blanks and brackets,
// so fields from 3 on are counted from the last bracket.
std::string_view StatField(std::string_view stat, size_t n) {
  size_t close = stat.rfind(')');
  return close == std::string_view::npos ? std::string_view() : Word(stat.substr(close + 1), n - 3);
}

int64_t TicksToNs(int64_t ticks) {
  static const int64_t tick_ns = kNsPerSecond / std::max(1L, ::sysconf(_SC_CLK_TCK));
  return ticks * tick_ns;
}

// CPU of a thread: exact from schedstat where the kernel keeps it, else in ticks of 10 ms.
int64_t ThreadCpuNs(const std::string& task, std::string_view stat) {
  auto schedstat = ReadFile(task + "/schedstat", kMaxProcBytes);
  if (schedstat) return NumberOf(Word(*schedstat, 0));
  return TicksToNs(NumberOf(StatField(stat, 14)) + NumberOf(StatField(stat, 15)));
}

// The component of a thread "(http-worker)"; nothing for a thread of no known name.
std::optional<std::string_view> ComponentOf(std::string_view stat) {
  size_t open = stat.find('(');
  size_t close = stat.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  std::string_view name = stat.substr(open + 1, close - open - 1);
  name = name.substr(0, name.find('-'));
  auto known = std::find(kOverheadComponents.begin(), kOverheadComponents.end(), name);
  if (known == kOverheadComponents.end() || *known == "bpf" || *known == "other") return {};
  return *known;
}

}  // namespace

int64_t ProcessCpuNs() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * kNsPerSecond + used.tv_nsec;
}

OverheadMeter::OverheadMeter(std::string proc_root, std::function<int64_t()> process_cpu_ns)
    : proc_root_(std::move(proc_root)), process_cpu_ns_(std::move(process_cpu_ns)) {
  for (std::string_view component : kOverheadComponents) {
    if (component != "bpf") component_ns_[component] = 0;
  }
  start_time_seconds_ = StartTime();
}

OverheadReading OverheadMeter::Read() {
  ReadThreads();
  OverheadReading reading;
  reading.process_cpu_ns = process_cpu_ns_();
  int64_t named_ns = 0;
  for (const auto& [component, ns] : component_ns_) named_ns += component == "other" ? 0 : ns;
  int64_t& other_ns = component_ns_["other"];
  other_ns = std::max(other_ns, reading.process_cpu_ns - named_ns);
  for (const auto& [component, ns] : component_ns_) reading.components.push_back({component, ns});
  ReadMemory(reading);
  ReadDescriptors(reading);
  reading.start_time_seconds = start_time_seconds_;
  return reading;
}

void OverheadMeter::ReadThreads() {
  std::map<std::string, int64_t> now;
  for (const std::string& tid : ListDirectory(proc_root_ + "/self/task").value_or({})) {
    std::string task = proc_root_ + "/self/task/" + tid;
    auto stat = ReadFile(task + "/stat", kMaxProcBytes);
    if (!stat) continue;  // It ended since.
    std::optional<std::string_view> component = ComponentOf(*stat);
    if (!component) continue;
    int64_t cpu_ns = ThreadCpuNs(task, *stat);
    auto before = thread_ns_.find(tid);
    // A smaller value is a new thread with a reused id.
    bool same = before != thread_ns_.end() && before->second <= cpu_ns;
    component_ns_[*component] += cpu_ns - (same ? before->second : 0);
    now.emplace(tid, cpu_ns);
  }
  thread_ns_ = std::move(now);
}

void OverheadMeter::ReadMemory(OverheadReading& reading) const {
  auto statm = ReadFile(proc_root_ + "/self/statm", kMaxProcBytes);
  if (!statm) return;
  int64_t page = ::sysconf(_SC_PAGESIZE);
  reading.virtual_bytes = NumberOf(Word(*statm, 0)) * page;
  reading.resident_bytes = NumberOf(Word(*statm, 1)) * page;
  reading.private_bytes = reading.resident_bytes - NumberOf(Word(*statm, 2)) * page;
}

void OverheadMeter::ReadDescriptors(OverheadReading& reading) const {
  // Listing the folder opens it: that one is not counted.
  auto names = ListDirectory(proc_root_ + "/self/fd");
  if (names && !names->empty()) reading.open_fds = static_cast<int64_t>(names->size()) - 1;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    reading.max_fds = static_cast<int64_t>(limit.rlim_cur);
  }
}

double OverheadMeter::StartTime() const {
  auto own = ReadFile(proc_root_ + "/self/stat", kMaxProcBytes);
  auto machine = ReadFile(proc_root_ + "/stat", kMaxProcBytes);
  if (!own || !machine) return 0;
  size_t btime = machine->find("\nbtime ");
  if (btime == std::string::npos) return 0;
  int64_t booted_ns = NumberOf(Word(std::string_view(*machine).substr(btime), 1)) * kNsPerSecond;
  int64_t since_boot_ns = TicksToNs(NumberOf(StatField(*own, 22)));
  return static_cast<double>(booted_ns + since_boot_ns) / static_cast<double>(kNsPerSecond);
}

}  // namespace firetower::daemon
