// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * Waits of threads: from the switch away from a CPU to the switch to one.
 *
 *   switch-out: sampled? -> gate -> kernel stack -> user stack -> body (once) -> waiting
 *   wake-up:    who, when
 *   switch-in:  long enough? -> record
 *
 * A stack is taken when its thread leaves the CPU, in its own context. There may be half a million
 * switches a second, and a walk at each would cost too much. So a switch is sampled with a
 * probability that is chosen before its wait begins. The duration of every wait is measured, and a
 * sampled wait stands for those before it at the same place of the same thread: the sum of all
 * records is the time waited, whatever the probabilities were.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi/offcpu.h"
#include "bpf/lib/stack.h"
#include "bpf/lib/task_filter.h"
#include "bpf/lib/trace.h"
#include "bpf/waits/contention.h"
#include "bpf/waits/futex.h"
#include "bpf/waits/place.h"
#include "bpf/waits/state.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define EEXIST 17

static __always_inline void kernel_stack(void *ctx, struct stack_scratch *scratch,
					 struct ft_counters *counters)
{
	long bytes = bpf_get_stack(ctx, scratch->address, FT_MAX_KERNEL_FRAMES * 8, 0);

	scratch->head.kernel_frames = 0;
	if (bytes <= 0) {
		FT_COUNT(counters, KERNEL_STACK);
		return;
	}
	take_kernel_frames(scratch, bytes);
}

static __always_inline void user_stack(struct task_struct *task, struct stack_scratch *scratch,
				       struct ft_counters *counters)
{
	struct user_registers regs = {};

	if (no_user_stack(task, scratch, counters))
		return;
	if (entry_registers(task, &regs)) {
		scratch->head.stop = FT_STOP_PAGE;
		FT_COUNT(counters, NO_REGISTERS);
		return;
	}
	/* Code without a table yet is followed by frame pointers; user space reads the table when
	 * it meets the body. */
	if (walk_from(&regs, scratch)) {
		FT_COUNT(counters, COLD_LIMITED);
		walk_frame_pointers(scratch);
	}
}

/*
 * Notes that a thread waits; NULL if there is no room. Whoever wakes it finds the entry from here
 * on, and that may be before its stack is walked.
 */
static __always_inline struct ft_waiting *begin_wait(struct ft_waiting *waiting, __u32 tid,
						     struct ft_offcpu_cpu *own)
{
	__u32 slot = ft_thread_slot(tid);
	__u64 *count = bpf_map_lookup_elem(&ft_waiting_slots, &slot);
	long failed;

	if (!count)
		return NULL;
	__sync_fetch_and_add(count, 1);
	failed = bpf_map_update_elem(&ft_waiting, &tid, waiting, BPF_NOEXIST);
	if (!failed)
		return bpf_map_lookup_elem(&ft_waiting, &tid);
	__sync_fetch_and_add(count, (__u64)-1);
	/* Left over from a switch-in that this program did not see. */
	if (failed == -EEXIST) {
		FT_OFFCPU_COUNT(own, UNSEEN);
		failed = bpf_map_update_elem(&ft_waiting, &tid, waiting, BPF_EXIST);
	}
	if (!failed)
		return bpf_map_lookup_elem(&ft_waiting, &tid);
	FT_OFFCPU_COUNT(own, TABLE_FULL);
	return NULL;
}

/* Returns the types that want a wait of the current task, as in ft_waiting.types; sets min_ns. */
static __always_inline int wanted_types(struct ft_config *config, struct task_struct *task,
					__u32 tid, __u32 gate_version, __u8 state,
					struct ft_waiting *begun, struct ft_offcpu_cpu *own)
{
	struct ft_verdict *any, *lock = NULL;
	struct ft_found found;
	int undecided = 0;

	find_verdicts(config, task, &found, &own->counters);
	begun->cgroup_id = found.cgroup;
	any = judge(FT_TYPE_OFFCPU, &found, config, task, gate_version, &undecided, &own->counters);
	/* The process's memory is read only where somebody wants locks. */
	if (state != FT_WAIT_PREEMPTED && may_want(FT_TYPE_LOCK, &found) &&
	    (find_kernel_lock(tid, &begun->futex) || find_futex(task, &begun->futex)))
		lock = judge(FT_TYPE_LOCK, &found, config, task, gate_version, &undecided,
			     &own->counters);
	begun->types = (any ? 1 << FT_TYPE_OFFCPU : 0) | (lock ? 1 << FT_TYPE_LOCK : 0);
	begun->min_ns = any ? any->value : lock ? lock->value : 0;
	if (lock && lock->value < begun->min_ns)
		begun->min_ns = lock->value;
	return begun->types;
}

/* `prev` is the current task. */
static __always_inline void leave(void *ctx, struct task_struct *prev, struct ft_offcpu_cpu *own,
				  struct ft_place *place, __u32 tid, __u8 state, __u32 share,
				  __u64 now)
{
	struct ft_waiting begun = {}, *waiting;
	struct stack_scratch *scratch;
	struct ft_cpu *cpu = this_cpu();
	struct ft_config *config;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	config = bpf_map_lookup_elem(&ft_config, &zero);
	if (!scratch || !config || !cpu)
		return;
	if (!wanted_types(config, prev, tid, *(volatile __u32 *)&cpu->gate_version, state, &begun,
			  own))
		return;
	set_shortest(place, begun.min_ns);
	begun.begin_ns = now;
	begun.wake_ns = state == FT_WAIT_PREEMPTED ? now : 0;
	begun.tgid = bpf_get_current_pid_tgid() >> 32;
	begun.share = share;
	begun.cpu = (__u16)bpf_get_smp_processor_id();
	begun.state = state;
	waiting = begin_wait(&begun, tid, own);
	if (!waiting)
		return;
	own->due_ns = (own->due_ns > now ? own->due_ns : now) + offcpu_config.walk_ns;
	FT_OFFCPU_COUNT(own, WALKS);
	identify(scratch, prev, config);
	kernel_stack(ctx, scratch, &own->counters);
	user_stack(prev, scratch, &own->counters);
	own->counters.stop[scratch->head.stop & 15]++;
	waiting->flags = submit_body(scratch, &own->counters) ? FT_SAMPLE_NO_STACK : 0;
	if (scratch->trace_kind && read_trace()) {
		waiting->trace = scratch->trace.ids;
		waiting->flags |= FT_SAMPLE_TRACED;
	}
	waiting->stack_hash = scratch->head.stack_hash;
	waiting->stop = scratch->head.stop;
}

static __always_inline void switch_out(void *ctx, struct task_struct *prev, int preempt,
				       struct ft_offcpu_cpu *own, __u32 tid, __u64 now)
{
	__u32 slot = ft_thread_slot(tid), state = preempt ? 0 : task_state(prev), key, share;
	struct ft_thread *thread = bpf_map_lookup_elem(&ft_threads, &slot);
	struct ft_contended *contended;
	struct ft_place *place;

	if (!thread || (state & TASK_DEAD))
		return;
	key = place_key(prev, tid, preempt);
	contended = preempt ? NULL : contended_by(tid);
	/* Each lock is a place, whichever call needs it. */
	if (contended)
		key = (__u32)mix(key, contended->lock) | 1;
	place = place_at(key);
	if (!place)
		return;
	FT_OFFCPU_COUNT(own, SWITCHES);
	if (place->key != key)
		begin_place(place, key);
	share = share_of(own, place, now);
	thread->tid = tid;
	thread->place = key;
	thread->out_ns = now;
	thread->wake_ns = wait_state(state) == FT_WAIT_PREEMPTED ? now : 0;
	if (share < FT_KEEP_ALL && (next_random(own) & (FT_KEEP_ALL - 1)) >= share)
		return;
	leave(ctx, prev, own, place, tid, wait_state(state), share, now);
}

static __always_inline void tell(struct ft_waiting *waiting, struct ft_place *place,
				 struct ft_offcpu_cpu *own, __u32 tid, __u64 ns, __u64 now)
{
	struct ft_wait *wait;

	if (waiting->flags & FT_SAMPLE_TRACED)
		send_trace(&waiting->trace, now, waiting->tgid, tid);
	wait = bpf_ringbuf_reserve(&ft_ring, sizeof(*wait), 0);
	if (!wait) {
		FT_OFFCPU_COUNT(own, WAIT_RING_FULL);
		return;
	}
	wait->sample.time_ns = now;
	wait->sample.stack_hash = waiting->stack_hash;
	wait->sample.cgroup_id = waiting->cgroup_id;
	wait->sample.value = ns;
	wait->sample.tgid = waiting->tgid;
	wait->sample.tid = tid;
	wait->sample.cpu = waiting->cpu;
	wait->sample.kind = FT_KIND_WAIT;
	wait->sample.type = waiting->types & (1 << FT_TYPE_OFFCPU) ? FT_TYPE_OFFCPU : FT_TYPE_LOCK;
	wait->sample.stop = waiting->stop;
	wait->sample.flags = waiting->flags;
	wait->sample.cold = 0;
	wait->begin_ns = waiting->begin_ns;
	wait->runqueue_ns = runqueue_part(waiting->wake_ns, now);
	wait->total_ns = place ? place->untold_ns : ns;
	wait->total_runqueue_ns = place ? place->untold_runqueue_ns : wait->runqueue_ns;
	wait->waits = place ? place->untold_waits : 1;
	wait->waker_stack = waiting->waker_stack;
	wait->share = waiting->share;
	wait->waker_tid = waiting->waker_tid;
	wait->waker_tgid = waiting->waker_tgid;
	wait->state = waiting->state;
	wait->types = waiting->types;
	__builtin_memset(wait->pad0, 0, sizeof(wait->pad0));
	__builtin_memcpy(wait->waker_comm, waiting->waker_comm, sizeof(wait->waker_comm));
	wait->futex = waiting->futex;
	bpf_ringbuf_submit(wait, wake_flag(0));
	if (place)
		forget_waits(place);
	FT_OFFCPU_COUNT(own, WAITS);
}

/*
 * A kernel does not tell every switch. So a thread may come back from a wait that is not the one
 * that it was sampled for, and then what is known of this wait's place is not the other's.
 */
static __always_inline void switch_in(struct ft_offcpu_cpu *own, __u32 tid, __u64 now)
{
	__u32 slot = ft_thread_slot(tid);
	struct ft_thread *thread = bpf_map_lookup_elem(&ft_threads, &slot);
	__u64 *count = bpf_map_lookup_elem(&ft_waiting_slots, &slot);
	struct ft_waiting *waiting;
	struct ft_place *place = NULL;
	__u64 ns, out_ns = 0;

	if (!thread || !count)
		return;
	if (thread->tid == tid && thread->out_ns > offcpu_config.attached_ns) {
		place = place_at(thread->place);
		if (place && place->key != thread->place)
			place = NULL;
		if (place)
			note_wait(place, thread, now);
		out_ns = thread->out_ns;
		thread->out_ns = 0;
	}
	if (!*count)
		return;
	waiting = bpf_map_lookup_elem(&ft_waiting, &tid);
	if (!waiting)
		return;
	ns = now > waiting->begin_ns ? now - waiting->begin_ns : 0;
	if ((out_ns && out_ns != waiting->begin_ns) ||
	    waiting->begin_ns <= offcpu_config.attached_ns)
		FT_OFFCPU_COUNT(own, UNSEEN);
	else if (ns >= waiting->min_ns)
		tell(waiting, place, own, tid, ns, now);
	else
		FT_OFFCPU_COUNT(own, SHORT);
	if (!bpf_map_delete_elem(&ft_waiting, &tid))
		__sync_fetch_and_add(count, (__u64)-1);
}

/* TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next, …) */
SEC("tp_btf/sched_switch")
int ft_offcpu_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 cpu = bpf_get_smp_processor_id(), out = prev->pid, in = next->pid;
	struct ft_offcpu_cpu *own = bpf_map_lookup_elem(&ft_offcpu_cpus, &cpu);
	__u64 now, begin = 0;

	if (!own)
		return 0;
	now = bpf_ktime_get_ns();
	if (!own->random)
		own->random = now | 1;
	if (own->counters.value[FT_COUNT_RUNS]++ % FT_TIMED_EVERY == 0)
		begin = now;
	if (out)
		switch_out(ctx, prev, (int)ctx[0], own, out, now);
	if (in)
		switch_in(own, in, now);
	if (begin)
		own->counters.value[FT_COUNT_RUN_NS] +=
			(bpf_ktime_get_ns() - begin) * FT_TIMED_EVERY;
	return 0;
}

/*
 * Notes the stack of the current task, which wakes who waits for a lock: it had it, as a rule. No
 * kernel frames: they are those of the wake-up.
 */
static __always_inline void note_waker(struct ft_waiting *waiting, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	struct ft_offcpu_cpu *own = bpf_map_lookup_elem(&ft_offcpu_cpus, &cpu);
	struct task_struct *task = current_task();
	struct stack_scratch *scratch;
	struct ft_config *config;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	config = bpf_map_lookup_elem(&ft_config, &zero);
	if (!own || !scratch || !config)
		return;
	if (!(waiting->futex.op & FT_FUTEX_KERNEL) && !in_futex(task))
		return;
	own->due_ns = (own->due_ns > now ? own->due_ns : now) + offcpu_config.walk_ns;
	FT_OFFCPU_COUNT(own, WALKS);
	identify(scratch, task, config);
	scratch->head.kernel_frames = 0;
	user_stack(task, scratch, &own->counters);
	if (submit_body(scratch, &own->counters))
		return;
	waiting->waker_tgid = scratch->head.tgid;
	waiting->waker_stack = scratch->head.stack_hash;
}

/* In the waker's context. TP_PROTO(struct task_struct *p) */
SEC("tp_btf/sched_waking")
int ft_offcpu_waking(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 tid = task->pid, slot = ft_thread_slot(tid);
	__u64 *count = bpf_map_lookup_elem(&ft_waiting_slots, &slot);
	struct ft_thread *thread = bpf_map_lookup_elem(&ft_threads, &slot);
	struct ft_waiting *waiting;
	__u64 now;

	if (!count || !thread)
		return 0;
	now = bpf_ktime_get_ns();
	if (thread->tid == tid && !thread->wake_ns)
		thread->wake_ns = now;
	if (!*count)
		return 0;
	waiting = bpf_map_lookup_elem(&ft_waiting, &tid);
	if (!waiting || waiting->wake_ns)
		return 0;
	waiting->wake_ns = now;
	waiting->waker_tid = (__u32)bpf_get_current_pid_tgid();
	bpf_get_current_comm(waiting->waker_comm, sizeof(waiting->waker_comm));
	if (waiting->types & (1 << FT_TYPE_LOCK) && waiting->waker_tid)
		note_waker(waiting, now);
	return 0;
}

/* The current task is about to wait. TP_PROTO(void *lock, unsigned int flags) */
SEC("tp_btf/contention_begin")
int ft_contention_begin(__u64 *ctx)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), slot = ft_thread_slot(tid);
	struct ft_contended *contended = bpf_map_lookup_elem(&ft_contended, &slot);

	/* A lock that spins does not leave its CPU, and may be an interrupt's meanwhile. */
	if (!contended || !tid || (__u32)ctx[1] == FT_LOCK_SPIN)
		return 0;
	contended->tid = tid;
	contended->flags = (__u32)ctx[1];
	contended->lock = ctx[0];
	contended->since = offcpu_config.kernel_locks;
	return 0;
}

/* It has the lock, or gave up. TP_PROTO(void *lock, int ret) */
SEC("tp_btf/contention_end")
int ft_contention_end(__u64 *ctx)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), slot = ft_thread_slot(tid);
	struct ft_contended *contended = bpf_map_lookup_elem(&ft_contended, &slot);

	if (contended && contended->tid == tid && contended->lock == ctx[0])
		contended->tid = 0;
	return 0;
}
