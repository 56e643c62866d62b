/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Events that the kernel side counts per CPU since it was loaded. User space and /metrics use
 * the same list.
 */
#ifndef FIRETOWER_BPF_ABI_COUNTERS_H
#define FIRETOWER_BPF_ABI_COUNTERS_H

#include <linux/types.h>

/* X(NAME, name): the name is the `reason` label where the counter is a loss. */
#define FT_COUNTERS(X)                                                                       \
	X(RUNS, runs)                         /* the sampler ran */                          \
	X(RUN_NS, run_ns)                     /* its own time: every 16th run times 16 */    \
	X(SAMPLES, samples)                   /* samples submitted */                        \
	X(REFUSED, refused)                   /* a policy said no: not a loss */             \
	X(FILTERED, filtered)                 /* not a task or CPU of a filter's: no loss */ \
	X(THINNED, thinned)                   /* a policy asked for fewer: not a loss */     \
	X(STACKS, stacks)                     /* stack bodies submitted */                   \
	X(RING_FULL, ring_full)               /* lost: no room for the sample */             \
	X(STACK_RING_FULL, stack_ring_full)   /* stack lost, its sample kept */              \
	X(NO_REGISTERS, no_registers)         /* user stack lost */                          \
	X(KERNEL_STACK, kernel_stack)         /* the kernel stack helper failed */           \
	X(EXEC, exec)                         /* inside execve: kernel stack only */         \
	X(NO_CGROUP, no_cgroup)               /* the cgroup id could not be read */          \
	X(GATE_FULL, gate_full)               /* a new cgroup found no room in the gate */   \
	X(CGROUP_RING_FULL, cgroup_ring_full) /* a birth or death not told */                \
	X(COLD, cold)                         /* walks left to user space: not a loss */     \
	X(COLD_LIMITED, cold_limited)         /* stack cut: too many of them at once */      \
	X(CGROUP_EVENTS, cgroup_events)

enum ft_counter {
#define FT_COUNTER_ENUM(upper, lower) FT_COUNT_##upper,
	FT_COUNTERS(FT_COUNTER_ENUM)
#undef FT_COUNTER_ENUM
		FT_COUNTER_MAX,
};

struct ft_counters {
	__u64 value[FT_COUNTER_MAX];
	__u64 stop[16]; /* user walks by enum ft_stop */
};

/*
 * The data of one CPU. All that a tick touches lies in the first 64 bytes, because at 100 Hz
 * each cache line that a tick needs is a cache miss.
 */
struct ft_cpu {
	/*
	 * Written by user space, which changes it whenever a filter may drop other threads than
	 * before.
	 */
	__u32 gate_version;
	__u32 pad0;
	struct ft_counters counters;
	__u64 pad1[8 - (1 + FT_COUNTER_MAX + 16) % 8];
};

/* The sampler times itself on every run whose number is a multiple of this. */
#define FT_TIMED_EVERY 16

#endif
