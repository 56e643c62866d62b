/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Locks of the kernel's that threads wait for: from Linux 5.19 on it says so. */
#ifndef FIRETOWER_BPF_WAITS_CONTENTION_H
#define FIRETOWER_BPF_WAITS_CONTENTION_H

#include "bpf/waits/tables.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_THREAD_SLOTS);
	__type(key, __u32);
	__type(value, struct ft_contended);
} ft_contended SEC(".maps");

/* Returns the lock that the thread is about to wait for, or NULL. */
static __always_inline struct ft_contended *contended_by(__u32 tid)
{
	__u32 slot = ft_thread_slot(tid), since = offcpu_config.kernel_locks;
	struct ft_contended *contended;

	if (!since)
		return NULL;
	contended = bpf_map_lookup_elem(&ft_contended, &slot);
	return contended && contended->tid == tid && contended->since == since ? contended : NULL;
}

/* Returns 1 if the thread waits for a lock of the kernel's, and describes it. */
static __always_inline int find_kernel_lock(__u32 tid, struct ft_futex *futex)
{
	struct ft_contended *contended = contended_by(tid);

	if (!contended)
		return 0;
	futex->address = contended->lock;
	futex->op = FT_FUTEX_KERNEL | contended->flags;
	return 1;
}

#endif
