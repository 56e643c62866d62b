/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The futex that a thread waits for, or wakes others at: from the registers of its system call. */
#ifndef FIRETOWER_BPF_WAITS_FUTEX_H
#define FIRETOWER_BPF_WAITS_FUTEX_H

#include <bpf/bpf_core_read.h>

#include "bpf/abi/record.h"
#include "bpf/waits/place.h"

/* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_FUTEX_WAITV 449
#define NR_FUTEX_WAIT 455

/* include/uapi/linux/futex.h: WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 */
#define FUTEX_CMD_MASK 31
#define FUTEX_WAITS (1u << 0 | 1u << 6 | 1u << 9 | 1u << 11 | 1u << 13)

/* struct futex_waitv (include/uapi/linux/futex.h), its first two fields. */
struct ft_waitv {
	__u64 value;
	__u64 address;
};

/* Returns 1 if `task`, the current one, waits for a futex, and describes it. */
static __always_inline int find_futex(struct task_struct *task, struct ft_futex *futex)
{
	struct pt_regs___kernel *call = call_of(task);
	struct ft_waitv first;
	__u64 number;

	if (!call)
		return 0;
	number = BPF_CORE_READ(call, orig_ax);
	futex->address = BPF_CORE_READ(call, di);
	if (number == NR_FUTEX) {
		futex->op = (__u32)BPF_CORE_READ(call, si);
		futex->value = (__u32)BPF_CORE_READ(call, dx);
		/* An operation that wakes others waits for nothing but the kernel. */
		if (!(FUTEX_WAITS >> (futex->op & FUTEX_CMD_MASK) & 1))
			futex->address = 0;
	} else if (number == NR_FUTEX_WAIT) {
		futex->value = (__u32)BPF_CORE_READ(call, si);
	} else if (number == NR_FUTEX_WAITV) {
		futex->op = FT_FUTEX_WAITV;
		if (!bpf_probe_read_user(&first, sizeof(first), (void *)futex->address)) {
			futex->value = (__u32)first.value;
			futex->address = first.address;
		}
	} else {
		futex->address = 0;
	}
	if (!futex->address)
		return 0;
	futex->words =
		!bpf_probe_read_user(futex->word, sizeof(futex->word), (void *)futex->address);
	return 1;
}

/* 1: the current task is within futex(2), so what it wakes waited there. */
static __always_inline int in_futex(struct task_struct *task)
{
	struct pt_regs___kernel *call = call_of(task);

	return call && BPF_CORE_READ(call, orig_ax) == NR_FUTEX;
}

#endif
