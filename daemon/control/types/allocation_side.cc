// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/types/allocation_side.h"

#include <utility>

#include "base/log.h"

namespace firetower::daemon {
namespace {

// How long a new process or a busy one is not noticed.
constexpr int kLookEveryMs = 250;

std::vector<HeapTarget> TargetsOf(const AllocationSide::Containers& containers,
                                  const Selection& selection) {
  std::vector<HeapTarget> targets;
  for (const std::shared_ptr<const Container>& container : containers) {
    Decision decision = selection.Decide(*container, FT_TYPE_MEMORY);
    if (decision.sampled)
      targets.push_back(
          {container, {decision.sample_bytes, decision.in_use}, std::move(decision.policies)});
  }
  return targets;
}

}  // namespace

AllocationSide::AllocationSide(Parts parts) : parts_(std::move(parts)), proc_(parts_.proc_root) {}

void AllocationSide::Want(std::shared_ptr<const Selection> selection) {
  const bool wanted = selection->Samples(FT_TYPE_MEMORY);
  {
    std::lock_guard lock(mutex_);
    if (!wanted && !selection_) return;
    selection_ = wanted ? std::move(selection) : nullptr;
  }
  if (!std::exchange(started_, true))
    thread_ = NamedThread(
        "heaps", [this](std::stop_token stop, WakeFd& wake) { Run(std::move(stop), wake); });
  thread_.Notify();
}

void AllocationSide::Stop() {
  thread_.RequestStop();
  thread_.Join();
}

void AllocationSide::Run(std::stop_token stop, WakeFd& wake) {
  while (!stop.stop_requested()) {
    std::shared_ptr<const Selection> selection;
    {
      std::lock_guard lock(mutex_);
      selection = selection_;
    }
    if (selection && Load()) {
      Look(selection);
    } else if (watch_) {
      watch_.reset();
      containers_.reset();
      decided_by_.reset();
      probed_.store(0, std::memory_order_relaxed);
      std::lock_guard lock(mutex_);
      faults_.left_out.clear();
    }
    wake.Wait(watch_ || (selection && loaded_ != nullptr) ? kLookEveryMs : -1);
  }
  watch_.reset();
}

bool AllocationSide::Load() {
  if (loaded_ != nullptr) return true;
  {
    // A kernel that refused once refuses again.
    std::lock_guard lock(mutex_);
    if (!faults_.failure.empty()) return false;
  }
  Result<std::unique_ptr<AllocPrograms>> programs =
      AllocPrograms::Load(parts_.sampler, parts_.sys_root);
  if (programs) {
    loaded_ = programs->get();
    programs_.Publish(*std::move(programs));
    return true;
  }
  LOG(kError, "no allocations", {{"error", programs.error().message()}});
  std::lock_guard lock(mutex_);
  faults_.failure = programs.error().message();
  return false;
}

void AllocationSide::Look(const std::shared_ptr<const Selection>& selection) {
  const std::shared_ptr<const Containers> containers = parts_.containers();
  if (!containers) return;
  if (!watch_)
    watch_ = std::make_unique<HeapWatch>(*loaded_, proc_, parts_.cgroup_mount, parts_.on_end,
                                         parts_.may_follow);
  // Policies and containers change some times a minute, and deciding on all takes a while.
  if (containers != containers_ || selection != decided_by_) {
    containers_ = containers;
    decided_by_ = selection;
    targets_ = TargetsOf(*containers, *selection);
    roots_.clear();
    for (const std::shared_ptr<const Container>& container : *containers)
      roots_.insert(container->root_path);
  }
  watch_->Look(parts_.clock.MonotonicNs(), targets_, roots_);
  probed_.store(watch_->probed(), std::memory_order_relaxed);
  std::lock_guard lock(mutex_);
  faults_.left_out = watch_->LeftOut();
}

AllocationSide::Faults AllocationSide::faults() const {
  std::lock_guard lock(mutex_);
  return faults_;
}

AllocCounters AllocationSide::Counters() const {
  const std::shared_ptr<const AllocPrograms> programs = programs_.Get();
  return programs ? programs->Counters() : AllocCounters{};
}

uint64_t AllocationSide::MapBytes() const {
  const std::shared_ptr<const AllocPrograms> programs = programs_.Get();
  return programs ? programs->MapBytes() : 0;
}

}  // namespace firetower::daemon
