// SPDX-License-Identifier: Apache-2.0
#include "daemon/allocations/heap_watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "daemon/allocations/allocator.h"
#include "daemon/allocations/cgroup_processes.h"
#include "symbolizer/foreign_file.h"

namespace firetower::daemon {
namespace {

constexpr uint64_t kMaxFileBytes = 4ULL << 30;
// The answers that are kept; beyond it all are forgotten.
constexpr size_t kMaxFiles = 4096;
constexpr int64_t kLeastCountedNs = 100 * kNsPerMs;

// The process has ended, or is another one now.
bool IsGone(const Error& error) {
  return error.code() == ErrorCode::kNotFound || error.sys_errno() == ESRCH;
}

}  // namespace

std::map<std::string, HeapFault> DescribeLeftOut(std::span<const LeftOutHeap> left_out) {
  constexpr size_t kMostNames = 3;
  std::map<std::string, std::vector<const LeftOutHeap*>> by_policy;
  for (const LeftOutHeap& heap : left_out) {
    for (const std::string& policy : heap.policies) by_policy[policy].push_back(&heap);
  }
  std::map<std::string, HeapFault> faults;
  for (const auto& [policy, heaps] : by_policy) {
    std::string names;
    for (size_t i = 0; i < std::min(heaps.size(), kMostNames); ++i)
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", heaps[i]->comm, heaps[i]->pid);
    if (heaps.size() > kMostNames) names += fmt::format(" and {} more", heaps.size() - kMostNames);
    const auto refused =
        std::ranges::find_if(heaps, [](const auto* heap) { return !heap->refused.empty(); });
    const bool any_refused = refused != heaps.end();
    faults[policy] = {
        any_refused ? "AllocationsRefused" : "AllocationsTooFrequent",
        fmt::format("the allocations of {} are not sampled: {}; they are tried again every {} s",
                    names,
                    any_refused ? (*refused)->refused
                                : fmt::format("more than {} calls a second, each of which would "
                                              "cost a breakpoint",
                                              HeapWatch::kMaxCallsPerSecond),
                    HeapWatch::kRestNs / kNsPerSecond)};
  }
  return faults;
}

void HeapWatch::Look(int64_t now_ns, std::span<const HeapTarget> targets,
                     const std::set<std::string>& roots) {
  for (auto& [pid, heap] : heaps_) heap.seen = false;
  for (const HeapTarget& target : targets) {
    for (const uint32_t pid : ProcessesIn(mount_, target.container->root_path, roots))
      Follow(now_ns, pid, target);
  }
  for (auto& [pid, heap] : heaps_) {
    if (!heap.seen) Release(pid, heap);
  }
  std::erase_if(heaps_, [](const auto& entry) { return !entry.second.seen; });
  programs_.ForgetRemoved();
}

void HeapWatch::Follow(int64_t now_ns, uint32_t pid, const HeapTarget& target) {
  const Result<ProcessStat> stat = proc_.Stat(pid);
  const Result<FileStamp> program = StatFile(fmt::format("{}/{}/exe", proc_.root(), pid));
  if (!stat || !program) return;  // It has ended, or is the kernel's.
  Heap& heap = heaps_[pid];
  if (heap.start_ticks != stat->start_ticks || !(heap.program == *program)) {
    Release(pid, heap);
    heap = Heap();
    heap.start_ticks = stat->start_ticks;
    heap.program = *program;
    heap.first_ns = heap.look_ns = now_ns;
    heap.comm = stat->comm;
  }
  heap.seen = true;
  heap.policies = target.policies;
  if (!heap.probes.empty() && heap.wish != target.wish) Release(pid, heap);
  heap.wish = target.wish;
  if (!heap.probes.empty()) Govern(now_ns, pid, heap);
  if (heap.probes.empty() && now_ns >= heap.look_ns) Probe(now_ns, pid, heap);
}

void HeapWatch::Govern(int64_t now_ns, uint32_t pid, Heap& heap) {
  if (now_ns - heap.counted_ns < kLeastCountedNs) return;
  const uint64_t calls = programs_.Calls(pid);
  const double seconds = static_cast<double>(now_ns - heap.counted_ns) / kNsPerSecond;
  const auto rate = static_cast<uint64_t>(static_cast<double>(calls - heap.calls) / seconds);
  heap.calls = calls;
  heap.counted_ns = now_ns;
  if (rate <= kMaxCallsPerSecond) return;
  Release(pid, heap);
  heap.busy_calls = rate;
  heap.look_ns = now_ns + kRestNs;
  LOG(kWarn, "allocations are not sampled: too many",
      {{"pid", pid}, {"comm", heap.comm}, {"calls_per_second", rate}});
}

void HeapWatch::Probe(int64_t now_ns, uint32_t pid, Heap& heap) {
  heap.busy_calls = 0;
  heap.refused.clear();
  heap.look_ns = now_ns - heap.first_ns < kYoungNs ? now_ns : now_ns + kLookAgainNs;
  const Result<std::vector<MapsLine>> lines = proc_.Maps(pid);
  if (!lines) return;
  Status status = heap.wish.in_use ? MayFollow(pid) : OkStatus();
  // Its calls are counted, and sampled, from the first probe on.
  if (status) status = programs_.AddProcess(pid, heap.wish);
  std::set<std::pair<uint64_t, uint64_t>> files;
  for (const MapsLine& line : *lines) {
    if (!status) break;
    if (!line.path.starts_with('/') || !files.emplace(line.device, line.inode).second) continue;
    status = ProbeFile(pid, line, heap);
  }
  if (!status && !IsGone(status.error())) {
    heap.look_ns = now_ns + kRestNs;
    heap.refused = status.error().message();
    if (std::exchange(told_, heap.refused) != heap.refused)
      LOG(kError, "allocations are not sampled",
          {{"pid", pid}, {"comm", heap.comm}, {"error", heap.refused}});
  }
  if (!status) heap.probes.clear();
  if (heap.probes.empty()) programs_.RemoveProcess(pid);
  heap.calls = 0;
  heap.counted_ns = now_ns;
}

Status HeapWatch::MayFollow(uint32_t pid) const {
  if (!may_follow_) {
    return Error(
        ErrorCode::kUnsupported,
        "this kernel ends a process with a seccomp filter for the probes that in use needs "
        "(Linux 6.11 to 6.13, mended in 6.14); leave inUse out, or upgrade the kernel");
  }
  // The processor compares each return address with that of the call.
  constexpr size_t kMostBytes = 16384;
  const std::string status =
      ReadFile(fmt::format("{}/{}/status", proc_.root(), pid), kMostBytes).value_or("");
  const size_t features = status.find("x86_Thread_features:");
  const std::string_view line = std::string_view(status).substr(
      std::min(features, status.size()), status.find('\n', features) - features);
  if (line.find("shstk") == std::string_view::npos) return OkStatus();
  return Error(ErrorCode::kUnsupported,
               "it runs with a shadow stack, which the probes that in use needs would not match; "
               "leave inUse out, or glibc.cpu.x86_shstk off");
}

Result<UniqueFd> HeapWatch::OpenMapped(uint32_t pid, const MapsLine& line) const {
  Result<UniqueFd> mapped = symbolizer::OpenForeign(
      fmt::format("{}/{}/map_files/{:x}-{:x}", proc_.root(), pid, line.start, line.end),
      kMaxFileBytes);
  if (mapped) return mapped;
  return symbolizer::OpenForeignBelow(fmt::format("{}/{}/root", proc_.root(), pid), line.path,
                                      kMaxFileBytes);
}

// A file that cannot be opened or read is no allocator.
Status HeapWatch::ProbeFile(uint32_t pid, const MapsLine& line, Heap& heap) {
  Result<UniqueFd> fd = OpenMapped(pid, line);
  if (!fd) return OkStatus();
  const Result<FileStamp> stamp = ReadStamp(fd->get());
  if (!stamp) return OkStatus();
  Result<symbolizer::FileSource> source = symbolizer::FileSource::FromFd(*std::move(fd));
  if (!source) return OkStatus();
  if (files_.size() >= kMaxFiles) files_.clear();
  auto [functions, inserted] = files_.try_emplace(ToText(*stamp));
  if (inserted) {
    if (auto found = FindAllocator(*source)) functions->second = *std::move(found);
  }
  if (functions->second.empty()) return OkStatus();
  ASSIGN_OR_RETURN(
      std::vector<UniqueFd> more,
      programs_.Probe(pid, source->fd(), functions->second, heap.wish.in_use).Context(line.path));
  std::ranges::move(more, std::back_inserter(heap.probes));
  return OkStatus();
}

void HeapWatch::Release(uint32_t pid, Heap& heap) {
  if (heap.probes.empty()) return;
  heap.probes.clear();
  programs_.RemoveProcess(pid);
  if (heap.wish.in_use && on_end_) on_end_(pid);
}

std::vector<LeftOutHeap> HeapWatch::LeftOut() const {
  std::vector<LeftOutHeap> left_out;
  for (const auto& [pid, heap] : heaps_) {
    if (heap.busy_calls > 0 || !heap.refused.empty())
      left_out.push_back({pid, heap.comm, heap.busy_calls, heap.refused, heap.policies});
  }
  return left_out;
}

size_t HeapWatch::probed() const {
  return static_cast<size_t>(std::ranges::count_if(
      heaps_, [](const auto& entry) { return !entry.second.probes.empty(); }));
}

}  // namespace firetower::daemon
