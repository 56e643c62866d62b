/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Settings, counters and tables of the off-CPU programs. Both sides include this file. */
#ifndef FIRETOWER_BPF_ABI_OFFCPU_H
#define FIRETOWER_BPF_ABI_OFFCPU_H

#include <linux/types.h>

#include "bpf/abi/counters.h"
#include "bpf/abi/record.h"
#include "bpf/abi/trace.h"

/* User space may change them while the programs run. */
struct ft_offcpu_config {
	__u64 min_wait_ns;  /* the shortest wait that any container has told, until its own is known
			     */
	__u64 attached_ns;  /* monotonic, since when every switch is seen; earlier ones are over */
	__u64 walk_ns;      /* 1 second / the walks of stacks that a CPU may make in it */
	__u32 kernel_locks; /* not 0: locks of the kernel's are told apart, so often since load */
	__u32 pad0;
};

/*
 * A CPU may be so many walks ahead of its budget, and all of its switches are sampled: programs
 * that begin at once leave many first waits, each of which may last. From there on the share that
 * is sampled halves with each FT_OFFCPU_HALVING walks.
 */
#define FT_OFFCPU_BURST 100
#define FT_OFFCPU_HALVING 8
#define FT_OFFCPU_MAX_HALVINGS 14

/* Counters of this family, by CPU. X(NAME, name). */
#define FT_OFFCPU_COUNTERS(X)                                                  \
	X(SWITCHES, switches)        /* threads that left a CPU */             \
	X(WALKS, walks)              /* of them sampled */                     \
	X(WAITS, waits)              /* told */                                \
	X(SHORT, short)              /* sampled, and too short to be told */   \
	X(TABLE_FULL, table_full)    /* lost: too many threads wait at once */ \
	X(WAIT_RING_FULL, ring_full) /* lost: no room in the ring */           \
	X(UNSEEN, unseen)            /* lost: its end was not told to us */

enum ft_offcpu_counter {
#define FT_OFFCPU_COUNTER_ENUM(upper, lower) FT_OFFCPU_##upper,
	FT_OFFCPU_COUNTERS(FT_OFFCPU_COUNTER_ENUM)
#undef FT_OFFCPU_COUNTER_ENUM
		FT_OFFCPU_COUNTER_MAX,
};

struct ft_offcpu_cpu {
	__u64 due_ns; /* when the walks so far are within the budget */
	__u64 random;
	__u64 value[FT_OFFCPU_COUNTER_MAX];
	struct ft_counters counters; /* as of the sampler: gate, walks, ring */
};

/* A wait that goes on. The key is the thread's id. */
struct ft_waiting {
	__u64 begin_ns;
	__u64 min_ns;  /* told if it is at least this long */
	__u64 wake_ns; /* 0: not woken yet */
	__u64 stack_hash;
	__u64 cgroup_id;
	__u64 waker_stack;
	__u32 tgid;
	__u32 share;
	__u32 waker_tid;
	__u32 waker_tgid;
	__u16 cpu;
	__u8 stop;
	__u8 state;
	__u8 flags; /* enum ft_sample_flag */
	__u8 types; /* bit n: it counts for enum ft_type n */
	__u8 pad0[2];
	__u8 waker_comm[16];
	struct ft_futex futex;
	struct ft_trace_ids trace; /* with FT_SAMPLE_TRACED */
};

/*
 * The last switch of a thread, found at ft_thread_slot() of its id, where another one may have
 * taken its place.
 */
struct ft_thread {
	__u32 tid;
	__u32 place;   /* of struct ft_place: where it left its CPU */
	__u64 out_ns;  /* 0: it has come back since */
	__u64 wake_ns; /* 0: not woken since */
};
#define FT_THREAD_SLOTS 16384
static inline __u32 ft_thread_slot(__u32 tid)
{
	return (tid * 0x9e3779b9u) >> 18;
}

/*
 * The lock of the kernel's that a thread is about to wait for. Found at ft_thread_slot() of its id,
 * where another one may have taken its place.
 */
struct ft_contended {
	__u32 tid; /* 0: none */
	__u32 flags;
	__u64 lock;
	/*
	 * The configuration's kernel_locks as it was noted. The end of an earlier one was not
	 * seen, perhaps.
	 */
	__u64 since;
};

/*
 * The waits of one thread at one place of its code, as far as a look at its registers tells. Each
 * is timed, though few are sampled: a sampled one stands for itself and for those before it that
 * were not. Found at a slot by its key, where another one may have taken its place.
 */
struct ft_place {
	__u32 key;
	__u32 mean_us; /* of its waits, the later ones more */
	__u64 min_ns;  /* shorter waits are not told */
	__u64 untold_ns;
	__u64 untold_runqueue_ns; /* of these, after the wake-up */
	__u64 untold_waits;
};
#define FT_PLACE_SLOTS 65536

/* Threads of which a wait is told, at once; resized before load. */
#define FT_WAITING_ENTRIES 16384

#endif
