/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Shared by the programs on allocators and user space. */
#ifndef FIRETOWER_BPF_ABI_ALLOC_H
#define FIRETOWER_BPF_ABI_ALLOC_H

#include <linux/types.h>

#include "bpf/abi/counters.h"
#include "bpf/abi/record.h"

/* A process whose allocations are sampled, by its tgid. User space adds and removes it. */
struct ft_heap {
	__u64 sample_bytes; /* an allocation of that many bytes or more is always a sample */
	__u64 calls;        /* breakpoints so far: calls of its allocator's functions, and their
			       returns where these are probed */
	__u32 live;         /* names its allocations in use, no other heap's ever; 0: they are not
			       followed */
	__u32 pad0;
};

/* The most processes whose allocations are sampled at once. */
#define FT_HEAPS 256

/* The most sampled allocations that are followed at once: 16 GiB in use at 512 KiB each. */
#define FT_LIVE 32768

/* The key of such an allocation: its address in its heap. */
struct ft_live_key {
	__u64 address;
	__u32 heap; /* ft_heap's live */
	__u32 pad0;
};

enum ft_freed_why {
	FT_FREED = 0,
	FT_FREED_NEVER = 1,  /* the allocator had no memory, or has the process end instead */
	FT_FREED_UNSEEN = 2, /* FT_LIVE are followed already, or its address was not met */
};

/* A sampled allocation is not in use any more, or not known to be. Sent once for each. */
struct ft_freed {
	__u64 time_ns;
	__u64 sample_ns; /* the time of the allocation's sample, and … */
	__u64 pad0;
	__u64 pad1;
	__u32 tgid;
	__u32 tid; /* … its thread */
	__u16 pad2;
	__u8 kind;
	__u8 why; /* enum ft_freed_why */
	__u32 pad3;
};

FT_STATIC_ASSERT(sizeof(struct ft_freed) == 48, "all records have a 48-byte head");
FT_STATIC_ASSERT(__builtin_offsetof(struct ft_freed, kind) == 42, "kind is at byte 42");

struct ft_alloc_cpu {
	__u64 missed; /* samples without a record: another thread, which lost its CPU, had the
			 scratch */
	struct ft_counters counters;
};

#endif
