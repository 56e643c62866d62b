/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Settings and counters of the programs of one event. Both sides include this file. */
#ifndef FIRETOWER_BPF_ABI_EVENT_H
#define FIRETOWER_BPF_ABI_EVENT_H

#include <linux/types.h>

#include "bpf/abi/counters.h"
#include "bpf/abi/record.h"

/* Fixed at load. */
struct ft_event_load_config {
	__u32 slot;    /* of the event: its type is FT_TYPE_EVENT plus this */
	__s32 syscall; /* sys_enter and sys_exit: the call that is meant; else -1 */
};

/* User space may change them while the programs run. */
struct ft_event_config {
	__u64 interval_ns; /* between the samples on a CPU, on average; 0: by the period alone */
	__u64 period;      /* of a tracepoint without one: each n-th occurrence is a sample */
};

/* With a frequency: the most events that one sample stands for, about. */
#define FT_EVENT_MOST (1 << 20)
/* After so many intervals there is a sample, however few events there were. */
#define FT_EVENT_PATIENCE 8
/* A tracepoint looks at the clock at every so many occurrences, a power of two. */
#define FT_EVENT_LOOK 64

struct ft_event_cpu {
	__u64 count;     /* of the perf event, as of the last sample */
	__u64 unsampled; /* of a tracepoint: occurrences since the last sample */
	__u64 target;    /* with a frequency: events until the next sample */
	__u64 counts;    /* of the last samples, and … */
	__u64 took_ns;   /* … the time between them */
	__u64 sampled_ns;
	__u64 busy;   /* an interrupt found the program at work */
	__u64 missed; /* occurrences without a sample for that reason; the next one counts them */
	struct ft_counters counters;
};

#endif
