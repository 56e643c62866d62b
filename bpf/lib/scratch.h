/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The memory in which the sampler builds a record: one for each CPU, used by this program family
 * only.
 */
#ifndef FIRETOWER_BPF_LIB_SCRATCH_H
#define FIRETOWER_BPF_LIB_SCRATCH_H

#include "bpf/abi/trace.h"
#include "bpf/lib/maps.h"
#include "bpf/walk/walk_state.h"

#define FT_MAX_FRAMES (FT_MAX_KERNEL_FRAMES + FT_MAX_USER_FRAMES)

/* The begin of OTEP 4947's record of a thread. */
struct trace_record {
	struct ft_trace_ids ids;
	__u8 valid; /* 1: it is */
	__u8 trace_flags;
	__u16 attributes_bytes;
	__u32 pad;
};
#define FT_TRACE_RECORD_BYTES 28

struct stack_scratch {
	/* The fields that a step touches lie together. */
	struct ft_walk walk;
	struct stack_window window;
	__u64 registers; /* kernel address of the leaf's struct pt_regs */
	__u64 tick;      /* ticks of this CPU, for thinning */
	__u64 cold_due_ns;
	__u64 press; /* the reader shall look at this sample at once */
	__u64 entry; /* the record of the interpreter's run that the walk has not left yet; or 0 */
	__u32 chain; /* enum chain (bpf/walk/chain.h) */
	__u32 runtime;     /* enum ft_runtime of its frames */
	__u32 chain_ended; /* the native walk has ended: what is left of the chain goes behind it */
	/* Not 0: `entry` is where the interpreter's loop begins, and this its size … */
	__u64 loop_bytes;
	__u64 cold; /* … and that of the part of it that lies apart */
	__u64 cold_bytes;
	__u64 core; /* Not 0 bytes: what the loop calls for each of its runs, which has no frame
		       shown */
	__u32 behind_core; /* 1: the frame in hand has called the core, and is not shown either */
	__u64 core_bytes;
	__u32 compiled_leaf;  /* 1: the interrupted code was written by PHP's compiler */
	__u64 machine_loaded; /* 1: the process's machine is in hand */
	/* How to find what the process's threads publish of their trace (bpf/lib/trace.h). */
	__s64 trace_offset;
	__u32 trace_module;
	__u16 trace_kind;
	__u16 dtv_bytes;
	struct trace_record trace; /* and what it publishes now */
	struct ft_stack head;
	__u64 address[FT_MAX_FRAMES];
};

FT_STATIC_ASSERT(sizeof(struct stack_scratch) <= 32 << 10,
		 "PCPU_MIN_UNIT_SIZE (include/linux/percpu.h): more is in no per-CPU map");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_scratch);
} ft_scratch SEC(".maps");

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	/* Murmur-style multiply and fold: two dependent instructions a frame. */
	hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
	return hash ^ (hash >> 32);
}

#endif
