/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The trace that a sampled thread worked on. Both sides include this file. */
#ifndef FIRETOWER_BPF_ABI_TRACE_H
#define FIRETOWER_BPF_ABI_TRACE_H

#include "bpf/abi/record.h"

/*
 * The ids that a thread publishes of the request that it works on (OTEP 4947: Thread Context), as
 * W3C Trace Context has their bytes (section 3.2.2). A trace of zeros is none.
 */
struct ft_trace_ids {
	__u64 trace[2];
	__u64 span;
};

/* It comes before a sample with FT_SAMPLE_TRACED, and has that one's time and thread. */
struct ft_trace {
	__u64 time_ns;
	struct ft_trace_ids ids;
	__u32 tgid;
	__u32 tid;
	__u16 pad0;
	__u8 kind;
	__u8 pad1;
	__u32 pad2;
};

FT_STATIC_ASSERT(sizeof(struct ft_trace) == 48, "all records have a 48-byte head");
FT_STATIC_ASSERT(__builtin_offsetof(struct ft_trace, kind) == 42, "kind is at byte 42");

#endif
