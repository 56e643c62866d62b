// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/hotspots/slice_self.h"

#include <algorithm>
#include <limits>
#include <span>

#include "k8s/policy/policy.h"
#include "profile/top/allocator_code.h"
#include "profile/top/lock_code.h"
#include "symbolizer/demangle.h"

namespace firetower::daemon {
namespace {
constexpr uint32_t kNotYet = std::numeric_limits<uint32_t>::max();
}

std::optional<HotspotKind> KindOf(const Slice::ContainerEntry& entry) {
  switch (entry.type) {
    case FT_TYPE_CPU:
      return HotspotKind::kCpu;
    case FT_TYPE_OFFCPU:
      return HotspotKind::kOffCpu;
    case FT_TYPE_LOCK:
      return HotspotKind::kLock;
    case FT_TYPE_MEMORY:
      return HotspotKind::kAllocations;
    default:
      if (entry.decision.event == k8s::kPageFaults) return HotspotKind::kPageFaults;
      return std::nullopt;
  }
}

const Frame& SliceSelf::FrameOf(const Slice& slice, uint32_t stack, Type type) {
  const std::span<const Frame> frames = slice.FramesOf(stack);
  if (type == FT_TYPE_MEMORY) {
    for (const Frame& frame : frames) {
      const FrameName name = namer_.Name(frame);
      if (!name.named || !profile::IsAllocatorCode(name.name())) return frame;
    }
  }
  if (!IsWait(type)) return frames.front();
  if (const Frame* taker = type == FT_TYPE_LOCK ? locks_.Taker(slice, stack) : nullptr)
    return *taker;
  if (const auto user = slice.UserFrames(stack); !user.empty()) return user.front();
  // A thread of the kernel: who called the scheduler.
  for (const Frame& frame : frames) {
    if (!profile::IsSchedulerCode(namer_.Name(frame).name())) return frame;
  }
  return frames.front();
}

bool SliceSelf::Counts(const Slice& slice, const Slice::Row& row, Type type) {
  return type != FT_TYPE_LOCK ||
         IsHeld(locks_.KindOf(slice, row.stack, slice.labels[row.label].futex));
}

uint32_t SliceSelf::TopOf(const Slice& slice, uint32_t stack, Type type) {
  uint32_t& top = top_of_stack_[type < FT_TYPE_EVENT ? type : Type{FT_TYPE_CPU}][stack];
  if (top != kNotYet) return top;
  const Slice::Stack& frames = slice.stacks[stack];
  Function function{std::string(NameWithoutFrames(frames.stop)), ""};
  if (frames.size > 0) {
    const Frame& leaf = FrameOf(slice, stack, type);
    function.binary = Basename(namer_.ModuleOf(leaf).path);
    FrameName name = namer_.Name(leaf);
    bool bare = name.named || function.binary.substr(0, 1) == "[";
    function.function = name.named ? symbolizer::SimplifyName(name.name())
                        : bare     ? function.binary
                                   : "[" + function.binary + "]";
  }
  auto [entry, inserted] = ids_.try_emplace(std::move(function), 0);
  if (inserted) {
    entry->second = static_cast<uint32_t>(functions_.size());
    functions_.push_back(&entry->first);
  }
  return top = entry->second;
}

const std::vector<ContainerSlice>& SliceSelf::Compute(const Slice& slice) {
  ids_.clear();
  functions_.clear();
  for (auto& tops : top_of_stack_) tops.assign(slice.stacks.size(), kNotYet);
  selves_.assign(slice.containers.size(), {});
  out_.assign(slice.containers.size(), {});
  // (container, function) -> place in the container's list.
  std::unordered_map<uint64_t, size_t> places;
  for (const Slice::Row& row : slice.rows) {
    const Slice::ContainerEntry& entry = slice.containers[row.container];
    const Type type = entry.type;
    if (!KindOf(entry) || !Counts(slice, row, type)) continue;
    const bool waits = IsWait(type);
    // A lock is waited for until the thread runs with it.
    const auto value = static_cast<int64_t>(row.amount.value +
                                            (type == FT_TYPE_LOCK ? row.amount.runqueue_ns : 0));
    uint32_t top = TopOf(slice, row.stack, type);
    std::vector<FunctionSelf>& self = selves_[row.container];
    auto [place, inserted] = places.try_emplace(uint64_t{row.container} << 32 | top, self.size());
    if (inserted) self.push_back({functions_[top]->function, functions_[top]->binary, 0, 0});
    self[place->second].value += value;
    // A wait was measured: one is no chance, and the parts of a long one count as none.
    self[place->second].samples +=
        waits ? ContainerHotspots::kLeastSamples : static_cast<int64_t>(row.amount.count);
    out_[row.container].total += value;
  }
  for (size_t i = 0; i < out_.size(); ++i) {
    const k8s::PathLabels& labels = slice.containers[i].container->labels;
    out_[i].labels = {labels.namespace_name, labels.pod, labels.container};
    out_[i].kind = KindOf(slice.containers[i]).value_or(HotspotKind::kCpu);
    out_[i].functions = selves_[i];
  }
  return out_;
}

}  // namespace firetower::daemon
