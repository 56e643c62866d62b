/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The stack of the current task, from its identity to the body in the ring: what every family of
 * programs does alike.
 */
#ifndef FIRETOWER_BPF_LIB_STACK_H
#define FIRETOWER_BPF_LIB_STACK_H

#include "bpf/lib/scratch.h"
#include "bpf/lib/user_registers.h"
#include "bpf/walk/user_stacks.h"

/* Hashes whose body has been submitted; a collision only sends a body again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_SEEN_ENTRIES);
	__type(key, __u32);
	__type(value, __u64);
} ft_seen SEC(".maps");

static __always_inline void identify(struct stack_scratch *scratch, struct task_struct *task,
				     struct ft_config *config)
{
	__u64 exec_id = BPF_CORE_READ(task, self_exec_id);

	scratch->head.time_ns = bpf_ktime_get_ns();
	scratch->head.tgid = bpf_get_current_pid_tgid() >> 32;
	scratch->head.start_ns = BPF_CORE_READ(task, group_leader, start_time);
	scratch->head.exec_id = (__u32)exec_id;
	scratch->head.epoch = config->epoch;
	scratch->head.kind = FT_KIND_STACK;
	scratch->trace_kind = FT_TRACE_NONE;
	/* Raw addresses mean nothing across processes, execs and windows: they go in first. */
	scratch->head.stack_hash =
		mix(mix((__u64)scratch->head.tgid << 32 | scratch->head.epoch, exec_id),
		    scratch->head.start_ns);
}

/* Notes the kernel frames that a helper wrote to scratch->address. */
static __always_inline void take_kernel_frames(struct stack_scratch *scratch, long bytes)
{
	__u32 frames = (__u32)bytes / 8;

	if (frames > FT_MAX_KERNEL_FRAMES)
		frames = FT_MAX_KERNEL_FRAMES;
	for (__u32 i = 0; i < FT_MAX_KERNEL_FRAMES; i++) {
		if (i >= frames)
			break;
		scratch->head.stack_hash = mix(scratch->head.stack_hash, scratch->address[i]);
	}
	scratch->head.kernel_frames = frames;
}

/* 1: the task has no user part that could be walked; the head says why. */
static __always_inline int no_user_stack(struct task_struct *task, struct stack_scratch *scratch,
					 struct ft_counters *counters)
{
	__u32 flags = BPF_CORE_READ(task, flags);

	scratch->head.user_frames = 0;
	if ((flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) || !BPF_CORE_READ(task, mm)) {
		scratch->head.stop = FT_STOP_NO_USER;
		return 1;
	}
	if (!load_config.user_reads) {
		scratch->head.stop = FT_STOP_REFUSED;
		return 1;
	}
	if (bpf_core_field_exists(task->in_execve) &&
	    BPF_CORE_READ_BITFIELD_PROBED(task, in_execve)) {
		scratch->head.stop = FT_STOP_EXEC;
		FT_COUNT(counters, EXEC);
		return 1;
	}
	return 0;
}

static __always_inline void begin_from(struct user_registers *regs, struct stack_scratch *scratch)
{
	scratch->walk.ip = regs->ip;
	scratch->walk.sp = regs->sp;
	scratch->walk.bp = regs->bp;
	scratch->registers = regs->kernel_address;
	begin_walk(scratch);
}

/* 1: it met code whose table is not here: it stands at that frame. */
static __always_inline int end_walk(struct stack_scratch *scratch)
{
	int step = walk_on(scratch);

	scratch->head.stop = step == FT_STEP_COLD ? FT_STOP_COLD : (__u8)scratch->walk.stop;
	if (scratch->chain == CHAIN_BROKEN && scratch->head.stop == FT_STOP_ROOT)
		scratch->head.stop = FT_STOP_PAGE;
	return step == FT_STEP_COLD;
}

/* Walks from these registers; 1 if it met code whose table is not here: it stands at that frame. */
static __always_inline int walk_from(struct user_registers *regs, struct stack_scratch *scratch)
{
	begin_from(regs, scratch);
	return end_walk(scratch);
}

/*
 * The same from the first instruction of a function: its return address is on top of the stack, so
 * nothing needs to be known of the function.
 */
static __always_inline int walk_from_entry(struct user_registers *regs, __u64 returns_to,
					   struct stack_scratch *scratch)
{
	begin_from(regs, scratch);
	if (ft_is_user_address(returns_to)) {
		scratch->walk.ip = returns_to;
		scratch->walk.sp += 8;
		scratch->walk.returned = 1;
		keep_caller(scratch, (scratch->head.kernel_frames & 127) + 1, FT_STEP_CALLER);
	}
	return end_walk(scratch);
}

/*
 * The reader sleeps until its timer unless much is waiting, or a record that presses: a sample that
 * it has to look at the process for, a cold one, or one that only it can say is wanted.
 */
static __always_inline __u64 wake_flag(int press)
{
	return press || bpf_ringbuf_query(&ft_ring, BPF_RB_AVAIL_DATA) >= load_config.wake_bytes ?
		       BPF_RB_FORCE_WAKEUP :
		       BPF_RB_NO_WAKEUP;
}

/*
 * Submits the body unless it went before. Marked only after it was submitted, so that a body that
 * found no room is sent again with the next sample. Returns 0 if user space has or gets it.
 */
static __always_inline int submit_body(struct stack_scratch *scratch, struct ft_counters *counters)
{
	/* The stop reason is part of a stack's identity: the same frames may be complete or cut. */
	__u64 hash = mix(scratch->head.stack_hash, scratch->head.stop);
	__u32 slot = hash & (FT_SEEN_ENTRIES - 1);
	__u64 *seen = bpf_map_lookup_elem(&ft_seen, &slot);
	__u32 frames;

	scratch->head.stack_hash = hash;
	if (!seen)
		return -1;
	if (*seen == hash)
		return 0;
	frames = scratch->head.kernel_frames + scratch->head.user_frames;
	if (frames > FT_MAX_KERNEL_FRAMES + FT_MAX_USER_FRAMES)
		frames = FT_MAX_KERNEL_FRAMES + FT_MAX_USER_FRAMES;
	if (bpf_ringbuf_output(&ft_ring, &scratch->head, sizeof(scratch->head) + frames * 8,
			       BPF_RB_NO_WAKEUP)) {
		FT_COUNT(counters, STACK_RING_FULL);
		return -1;
	}
	*seen = hash;
	FT_COUNT(counters, STACKS);
	return 0;
}

#endif
