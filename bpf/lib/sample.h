/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* A sample, from the stack that an event interrupted to the records in the ring. */
#ifndef FIRETOWER_BPF_LIB_SAMPLE_H
#define FIRETOWER_BPF_LIB_SAMPLE_H

#include <linux/bpf_perf_event.h>

#include "bpf/lib/cold.h"
#include "bpf/lib/stack.h"
#include "bpf/lib/trace.h"

/*
 * Fills the user part of what an event interrupted; its head says why it ended. Returns 1 if the
 * walk met code whose table is not here: it stands at that frame.
 */
static __always_inline int interrupted_user_stack(struct bpf_perf_event_data *ctx,
						  struct task_struct *task,
						  struct stack_scratch *scratch,
						  struct ft_counters *counters)
{
	struct user_registers regs = {};

	if (no_user_stack(task, scratch, counters))
		return 0;
	if ((ctx->regs.cs & 3) == 3) {
		regs.ip = ctx->regs.rip;
		regs.sp = ctx->regs.rsp;
		regs.bp = ctx->regs.rbp;
		/* The kernel's own context begins with a pointer to them. */
		bpf_probe_read_kernel(&regs.kernel_address, sizeof(regs.kernel_address), ctx);
	} else if (entry_registers(task, &regs)) {
		scratch->head.stop = FT_STOP_PAGE;
		FT_COUNT(counters, NO_REGISTERS);
		return 0;
	}
	return walk_from(&regs, scratch);
}

static __always_inline void interrupted_kernel_stack(struct bpf_perf_event_data *ctx,
						     struct stack_scratch *scratch,
						     struct ft_counters *counters)
{
	long bytes;

	scratch->head.kernel_frames = 0;
	if ((ctx->regs.cs & 3) == 3)
		return;
	bytes = bpf_get_stack(ctx, scratch->address, FT_MAX_KERNEL_FRAMES * 8, 0);
	if (bytes <= 0) {
		FT_COUNT(counters, KERNEL_STACK);
		return;
	}
	take_kernel_frames(scratch, bytes);
}

static __always_inline void fill_sample(__u8 type, struct ft_sample *sample,
					struct stack_scratch *scratch, __u64 cgroup, __u64 value,
					__u8 flags)
{
	sample->time_ns = scratch->head.time_ns;
	sample->stack_hash = scratch->head.stack_hash;
	sample->cgroup_id = cgroup;
	sample->value = value;
	sample->tgid = scratch->head.tgid;
	sample->tid = (__u32)bpf_get_current_pid_tgid();
	sample->cpu = (__u16)bpf_get_smp_processor_id();
	sample->kind = FT_KIND_SAMPLE;
	sample->type = type;
	sample->stop = scratch->head.stop;
	sample->flags = flags;
	sample->cold = 0;
}

static __always_inline void submit_sample(__u8 type, struct stack_scratch *scratch, __u64 cgroup,
					  __u64 value, __u8 flags, struct ft_counters *counters)
{
	struct ft_sample *sample = bpf_ringbuf_reserve(&ft_ring, sizeof(*sample), 0);

	if (!sample) {
		FT_COUNT(counters, RING_FULL);
		return;
	}
	fill_sample(type, sample, scratch, cgroup, value, flags);
	bpf_ringbuf_submit(sample, wake_flag(scratch->press));
	FT_COUNT(counters, SAMPLES);
}

/* submit_cold() with room_bytes, a constant, for the stack. */
static __always_inline int submit_cold_with(const __u32 room_bytes, __u8 type,
					    struct stack_scratch *scratch, __u64 cgroup,
					    __u64 value, __u8 flags, struct ft_counters *counters)
{
	struct ft_cold *cold = bpf_ringbuf_reserve(&ft_ring, sizeof(*cold) + room_bytes, 0);

	if (!cold)
		return -1;
	if (submit_body(scratch, counters)) {
		bpf_ringbuf_discard(cold, BPF_RB_NO_WAKEUP);
		return -1;
	}
	fill_sample(type, &cold->sample, scratch, cgroup, value, flags);
	cold->sample.kind = FT_KIND_COLD;
	fill_cold(cold, scratch, room_bytes);
	/* The file that it waits for is gone with the process, if that ends soon: read it now. */
	bpf_ringbuf_submit(cold, BPF_RB_FORCE_WAKEUP);
	FT_COUNT(counters, SAMPLES);
	FT_COUNT(counters, COLD);
	return 0;
}

/*
 * Sends a cold sample: its body so far, then what user space needs to go on. Returns 0; -1 if it
 * may not be sent, and then nothing was.
 */
static __always_inline int submit_cold(__u8 type, struct stack_scratch *scratch, __u64 cgroup,
				       __u64 value, __u8 flags, struct ft_counters *counters)
{
	__u64 waiting = bpf_ringbuf_query(&ft_ring, BPF_RB_AVAIL_DATA);
	__u64 size = bpf_ringbuf_query(&ft_ring, BPF_RB_RING_SIZE);

	/* These are large: whole samples must never find the ring full for their sake. */
	if (waiting > size / 2 || !cold_due(scratch))
		return -1;
	if (waiting < size / 4 && is_deeper(scratch->walk.sp, FT_COLD_MIDDLE_BYTES) &&
	    !submit_cold_with(FT_COLD_DEEP_BYTES, type, scratch, cgroup, value, flags, counters))
		return 0;
	if (waiting < size / 8 * 3 && is_deeper(scratch->walk.sp, FT_COLD_STACK_BYTES) &&
	    !submit_cold_with(FT_COLD_MIDDLE_BYTES, type, scratch, cgroup, value, flags, counters))
		return 0;
	return submit_cold_with(FT_COLD_STACK_BYTES, type, scratch, cgroup, value, flags, counters);
}

/* For so long a process's functions are mostly met the first time. */
#define FT_YOUNG_NS 1000000000ULL

/*
 * 1: the names of functions have to be read out of the process, which may end as soon as it has
 * begun.
 */
static __always_inline int is_young_machine(const struct stack_scratch *scratch)
{
	return scratch->walk.machine_kind &&
	       scratch->head.time_ns - scratch->head.start_ns < FT_YOUNG_NS;
}

/* Sends the sample whose stack is in scratch; `cold`: its walk met code without a table. */
static __always_inline void send(__u8 type, int cold, struct stack_scratch *scratch, __u64 cgroup,
				 __u64 value, struct ft_counters *counters)
{
	__u8 flags = send_trace_of(scratch);

	if (cold && !submit_cold(type, scratch, cgroup, value, flags, counters))
		return;
	if (cold) {
		FT_COUNT(counters, COLD_LIMITED);
		walk_frame_pointers(scratch);
	}
	counters->stop[scratch->head.stop & 15]++;
	if (submit_body(scratch, counters))
		flags |= FT_SAMPLE_NO_STACK;
	if (is_young_machine(scratch))
		scratch->press = 1;
	submit_sample(type, scratch, cgroup, value, flags, counters);
}

#endif
