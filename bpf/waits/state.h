/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Why a thread leaves its CPU. */
#ifndef FIRETOWER_BPF_WAITS_STATE_H
#define FIRETOWER_BPF_WAITS_STATE_H

#include <bpf/bpf_core_read.h>

#include "bpf/abi/record.h"
#include "bpf/lib/kernel_types.h"

/* include/linux/sched.h */
#define TASK_INTERRUPTIBLE 0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED 0x0004
#define TASK_TRACED 0x0008
#define TASK_DEAD 0x0080

/* task_struct's state until 5.13, and from then on. */
struct task_struct___state {
	long state;
} __attribute__((preserve_access_index));
struct task_struct___under_state {
	unsigned int __state;
} __attribute__((preserve_access_index));

static __always_inline __u32 task_state(struct task_struct *task)
{
	struct task_struct___under_state *now = (void *)task;
	struct task_struct___state *before = (void *)task;

	if (bpf_core_field_exists(now->__state))
		return BPF_CORE_READ(now, __state);
	return (__u32)BPF_CORE_READ(before, state);
}

static __always_inline __u8 wait_state(__u32 state)
{
	if (state & TASK_INTERRUPTIBLE)
		return FT_WAIT_SLEEPING;
	if (state & TASK_UNINTERRUPTIBLE)
		return FT_WAIT_UNINTERRUPTIBLE;
	if (state & (TASK_STOPPED | TASK_TRACED))
		return FT_WAIT_STOPPED;
	/* Woken on another CPU meanwhile, or it gave way (sched_yield). */
	return FT_WAIT_PREEMPTED;
}

#endif
