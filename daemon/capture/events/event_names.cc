// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/events/event_names.h"

#include <fmt/core.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/suggest.h"
#include "daemon/capture/events/pmu_event.h"
#include "daemon/capture/events/system_calls.h"

namespace firetower::daemon {
namespace {

// The names and numbers of the fields type and config in <linux/perf_event.h>, and perf's names.
struct Named {
  std::string_view name;
  uint64_t number;
};
constexpr Named kCounts[] = {{"cpu-clock", PERF_COUNT_SW_CPU_CLOCK},
                             {"task-clock", PERF_COUNT_SW_TASK_CLOCK},
                             {"page-faults", PERF_COUNT_SW_PAGE_FAULTS},
                             {"faults", PERF_COUNT_SW_PAGE_FAULTS},
                             {"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES},
                             {"cs", PERF_COUNT_SW_CONTEXT_SWITCHES},
                             {"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
                             {"migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
                             {"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN},
                             {"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
                             {"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS},
                             {"emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS}};
constexpr Named kCounters[] = {{"cpu-cycles", PERF_COUNT_HW_CPU_CYCLES},
                               {"cycles", PERF_COUNT_HW_CPU_CYCLES},
                               {"instructions", PERF_COUNT_HW_INSTRUCTIONS},
                               {"cache-references", PERF_COUNT_HW_CACHE_REFERENCES},
                               {"cache-misses", PERF_COUNT_HW_CACHE_MISSES},
                               {"branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
                               {"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
                               {"branch-misses", PERF_COUNT_HW_BRANCH_MISSES},
                               {"bus-cycles", PERF_COUNT_HW_BUS_CYCLES},
                               {"stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
                               {"idle-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
                               {"stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
                               {"idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
                               {"ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES}};
// A cache's event is made of these three parts.
constexpr Named kCaches[] = {
    {"L1-dcache", PERF_COUNT_HW_CACHE_L1D}, {"L1-icache", PERF_COUNT_HW_CACHE_L1I},
    {"LLC", PERF_COUNT_HW_CACHE_LL},        {"dTLB", PERF_COUNT_HW_CACHE_DTLB},
    {"iTLB", PERF_COUNT_HW_CACHE_ITLB},     {"branch", PERF_COUNT_HW_CACHE_BPU},
    {"node", PERF_COUNT_HW_CACHE_NODE}};
// The parts behind a cache: an operation, counted or only where it missed.
constexpr Named kUses[] = {
    {"-loads", PERF_COUNT_HW_CACHE_OP_READ << 8},
    {"-load-misses", PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
    {"-stores", PERF_COUNT_HW_CACHE_OP_WRITE << 8},
    {"-store-misses", PERF_COUNT_HW_CACHE_OP_WRITE << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
    {"-prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH << 8},
    {"-prefetch-misses",
     PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16}};

std::optional<uint64_t> NumberOf(std::span<const Named> table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Named::name);
  return found == table.end() ? std::nullopt : std::optional(found->number);
}

std::optional<uint64_t> CacheEvent(std::string_view name) {
  for (const Named& cache : kCaches) {
    if (!name.starts_with(cache.name)) continue;
    if (const auto use = NumberOf(kUses, name.substr(cache.name.size())))
      return cache.number | *use;
  }
  return std::nullopt;
}

std::optional<uint64_t> RawNumber(std::string_view name) {
  if (!name.starts_with('r') || name.size() < 2 || name.size() > 17) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number, 16);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// Splits perf's modifiers off: "cycles:u". Returns them; empty: there are none.
std::string_view TakeModifiers(std::string_view& name) {
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view behind = name.substr(colon + 1);
  if (behind != "u" && behind != "k" && behind != "uk" && behind != "ku") return {};
  name = name.substr(0, colon);
  return behind;
}

Error UnknownEvent(std::string_view name) {
  std::vector<std::string> all;
  for (const Named& one : kCounts) all.emplace_back(one.name);
  for (const Named& one : kCounters) all.emplace_back(one.name);
  for (const Named& cache : kCaches) {
    for (const Named& use : kUses) all.push_back(std::string(cache.name) + std::string(use.name));
  }
  const std::vector<std::string_view> views(all.begin(), all.end());
  return {ErrorCode::kInvalid,
          fmt::format("unknown event{}; known are the kernel's counts (page-faults, "
                      "context-switches), counters of the CPU (cycles, cache-misses, "
                      "L1-dcache-load-misses, r01c2) and tracepoints (sched:sched_switch)",
                      DidYouMean(name, views))};
}

Result<EventSource> Tracepoint(std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view group = name.substr(0, colon), event = name.substr(colon + 1);
  if (group.empty() || event.empty() || event.find(':') != std::string_view::npos)
    return Error(ErrorCode::kInvalid,
                 "a tracepoint is written group:event, for example sched:sched_switch");
  EventSource source;
  source.tracepoint = event;
  if (group != "syscalls") return source;
  // They are no tracepoints of their own: the two of all calls are.
  for (const std::string_view end : {"sys_enter", "sys_exit"}) {
    if (!event.starts_with(end) || event.size() < end.size() + 2 || event[end.size()] != '_')
      continue;
    const std::string_view call = event.substr(end.size() + 1);
    const std::optional<int> number = SystemCallNumber(call);
    if (!number)
      return Error(ErrorCode::kInvalid, fmt::format("there is no system call '{}'", call));
    source.tracepoint = end;
    source.syscall = *number;
    return source;
  }
  return Error(ErrorCode::kInvalid,
               "an event of syscalls is sys_enter_ or sys_exit_ and the name of a system call");
}

}  // namespace

bool IsTracepointName(std::string_view name) {
  TakeModifiers(name);
  return name.find(':') != std::string_view::npos;
}

Status HasCounters(const std::string& sys_root) {
  if (HasCpuDriver(sys_root)) return OkStatus();
  return Error(ErrorCode::kUnsupported,
               "the kernel has no driver for the CPU's counters, as on most virtual machines; "
               "page-faults, context-switches and tracepoints work without");
}

Result<EventSource> ResolveEvent(std::string_view name, const std::string& sys_root) {
  if (IsTracepointName(name)) return Tracepoint(name);
  const std::string_view modifiers = TakeModifiers(name);
  EventSource source;
  if (const auto count = NumberOf(kCounts, name)) {
    source.type = PERF_TYPE_SOFTWARE;
    source.config = *count;
  } else if (const auto counter = NumberOf(kCounters, name)) {
    source.type = PERF_TYPE_HARDWARE;
    source.config = *counter;
  } else if (const auto cache = CacheEvent(name)) {
    source.type = PERF_TYPE_HW_CACHE;
    source.config = *cache;
  } else if (Result<EventSource> found = FindCpuEvent(std::string(name), sys_root);
             found || found.error().code() != ErrorCode::kNotFound) {
    if (!found) return found;
    source = *std::move(found);
  } else if (const auto raw = RawNumber(name)) {
    source.type = PERF_TYPE_RAW;
    source.config = *raw;
  } else {
    return UnknownEvent(name);
  }
  if (source.type != PERF_TYPE_SOFTWARE) RETURN_IF_ERROR(HasCounters(sys_root));
  const bool user = modifiers.find('u') != std::string_view::npos;
  const bool kernel = modifiers.find('k') != std::string_view::npos;
  source.exclude_user = kernel && !user;
  source.exclude_kernel = user && !kernel;
  return source;
}

}  // namespace firetower::daemon
