/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Shared by the programs on allocators and user space. */
#ifndef FIRETOWER_BPF_ABI_ALLOC_H
#define FIRETOWER_BPF_ABI_ALLOC_H

#include <linux/types.h>

#include "bpf/abi/counters.h"

/* A process whose allocations are sampled, by its tgid. User space adds and removes it. */
struct ft_heap {
	__u64 sample_bytes; /* an allocation of that many bytes or more is always a sample */
	__u64 calls;        /* of its allocator's functions so far, each of them a breakpoint */
};

/* The most processes whose allocations are sampled at once. */
#define FT_HEAPS 256

struct ft_alloc_cpu {
	__u64 missed; /* samples without a record: another thread, which lost its CPU, had the
			 scratch */
	struct ft_counters counters;
};

#endif
