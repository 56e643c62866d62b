// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/types/wait_side.h"

#include <utility>

#include "base/log.h"

namespace firetower::daemon {

Status WaitSide::Attach(int64_t min_wait_ns) {
  if (loaded_ == nullptr) {
    ASSIGN_OR_RETURN(std::unique_ptr<WaitPrograms> programs, WaitPrograms::Load(sampler_, {}));
    loaded_ = programs.get();
    programs_.Publish(std::move(programs));
  }
  loaded_->SetShortest(min_wait_ns);
  if (attached_.load(std::memory_order_relaxed)) return OkStatus();
  RETURN_IF_ERROR(loaded_->Attach());
  attached_.store(true, std::memory_order_release);
  return OkStatus();
}

void WaitSide::TellKernelLocks(bool wanted) {
  if (!lock_failure_.empty()) return;
  if (const Status told = loaded_->TellKernelLocks(wanted); !told) {
    lock_failure_ = told.error().message();
    LOG(kWarn, "no waits for locks of the kernel's", {{"error", lock_failure_}});
  }
}

void WaitSide::Want(std::optional<int64_t> min_wait_ns, bool locks) {
  if (!min_wait_ns) {
    if (attached_.exchange(false, std::memory_order_acq_rel)) loaded_->Detach();
    return;
  }
  // A kernel that refused once refuses again.
  if (!failure_.empty()) return;
  if (const Status attached = Attach(*min_wait_ns); !attached) {
    failure_ = attached.error().message();
    LOG(kError, "no off-CPU profiles", {{"error", failure_}});
    return;
  }
  TellKernelLocks(locks);
}

WaitCounters WaitSide::Counters() const {
  const std::shared_ptr<const WaitPrograms> programs = programs_.Get();
  return programs ? programs->Counters() : WaitCounters{};
}

uint64_t WaitSide::MapBytes() const {
  const std::shared_ptr<const WaitPrograms> programs = programs_.Get();
  return programs ? programs->MapBytes() : 0;
}

std::vector<WaitingThread> WaitSide::WaitsThatGoOn() const {
  if (!attached_.load(std::memory_order_acquire)) return {};
  return programs_.Get()->WaitsThatGoOn();
}

}  // namespace firetower::daemon
