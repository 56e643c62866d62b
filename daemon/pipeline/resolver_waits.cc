// SPDX-License-Identifier: Apache-2.0
// The resolver's waits: each counts for one type or more, and those for locks have a holder.
#include <linux/futex.h>

#include <cstring>

#include "daemon/pipeline/resolver.h"

namespace firetower::daemon {

namespace {

// A timer may end a wait while some other process is in futex(2), and looks like its waker. Of a
// futex that processes do not share that is told by the process.
bool MayWake(const ft_wait& wait) {
  const bool is_private = (wait.futex.op & FUTEX_PRIVATE_FLAG) != 0;
  return !is_private || wait.waker_tgid == wait.sample.tgid;
}

}  // namespace

void Resolver::TakeWait(ft_sample sample, uint8_t types, Event event) {
  for (const Type type : {Type{FT_TYPE_OFFCPU}, Type{FT_TYPE_LOCK}}) {
    if ((types >> type & 1) == 0) continue;
    sample.type = type;
    Take({sample, event.amount, event.state, event.waker,
          type == FT_TYPE_LOCK ? event.lock : Lock{}, event.trace});
  }
}

void Resolver::OnWait(const ft_wait& wait) {
  Event event{wait.sample, told_.Ends(wait), wait.state};
  std::memcpy(event.waker.data(), wait.waker_comm, event.waker.size());
  if ((wait.types >> FT_TYPE_LOCK & 1) != 0) event.lock = LockOf(wait);
  if (notes_newest_) newest_.Note(wait.sample);
  TakeWait(wait.sample, wait.types, event);
}

// The holder is the thread that had the lock when the wait began, with the newest stack that it had
// meanwhile; else the one that gave it up.
Resolver::Lock Resolver::LockOf(const ft_wait& wait) {
  Lock lock;
  lock.use = UseOf(wait.futex);
  const uint32_t holder = HolderOf(wait.futex);
  const NewestStacks::Stack* stack = newest_.Since(holder, 0);
  const bool ours = stack != nullptr && stack->tgid == wait.sample.tgid;
  if (ours) lock.holder = processes_.ThreadComm(processes_.Get(wait.sample.tgid), holder);
  if (ours && stack->time_ns >= wait.begin_ns) {
    lock.holder_stack = stack->hash;
    lock.holder_tgid = stack->tgid;
  } else if (wait.waker_stack != 0 && MayWake(wait)) {
    std::memcpy(lock.holder.data(), wait.waker_comm, lock.holder.size());
    lock.holder_stack = wait.waker_stack;
    lock.holder_tgid = wait.waker_tgid;
  }
  return lock;
}

uint32_t Resolver::HolderStack(const Lock& lock) {
  ft_sample sample{};
  sample.tgid = lock.holder_tgid;
  sample.stack_hash = lock.holder_stack;
  uint8_t stop = 0;
  const uint32_t stack = StackOf(sample, StackParts::kUser, &stop);
  return stop == kStopStackLost ? kNoStack : stack;
}

void Resolver::TakeWaitsThatGoOn(std::span<const WaitingThread> threads, int64_t until_ns) {
  told_.BeginListing();
  for (const WaitingThread& thread : threads) {
    // Its body came at its begin, perhaps hours ago.
    stacks_.Keep(thread.wait.stack_hash);
    if (const StackStore::Body* body = stacks_.Find(thread.wait.stack_hash))
      functions_.Keep(body->pid, body->identity,
                      stacks_.Addresses(*body).subspan(body->kernel_frames));
    const Amount amount = told_.GoesOn(thread, until_ns);
    if (amount.value == 0 && amount.runqueue_ns == 0) continue;
    ft_sample sample{};
    sample.time_ns = static_cast<uint64_t>(until_ns - 1);
    sample.stack_hash = thread.wait.stack_hash;
    sample.cgroup_id = thread.wait.cgroup_id;
    sample.tgid = thread.wait.tgid;
    sample.tid = thread.tid;
    sample.cpu = thread.wait.cpu;
    sample.kind = FT_KIND_WAIT;
    sample.stop = thread.wait.stop;
    Event event{sample, amount, thread.wait.state};
    event.lock.use = UseOf(thread.wait.futex);
    if ((thread.wait.flags & FT_SAMPLE_TRACED) != 0) event.trace = &thread.wait.trace;
    TakeWait(sample, thread.wait.types, event);
  }
  told_.EndListing();
}

}  // namespace firetower::daemon
