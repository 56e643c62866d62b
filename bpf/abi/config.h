/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Settings that user space passes to the kernel side. */
#ifndef FIRETOWER_BPF_ABI_CONFIG_H
#define FIRETOWER_BPF_ABI_CONFIG_H

#include <linux/types.h>

#include "bpf/abi/record.h"

/* X(name): controllers of v1 hierarchies, by the names in enum cgroup_subsys_id. */
#define FT_CONTROLLERS(X) \
	X(cpuset)         \
	X(cpu)            \
	X(cpuacct)        \
	X(io)             \
	X(memory)         \
	X(devices)        \
	X(freezer)        \
	X(net_cls)        \
	X(perf_event)     \
	X(net_prio)       \
	X(hugetlb)        \
	X(pids)           \
	X(rdma)           \
	X(misc)           \
	X(debug)

enum ft_controller {
#define FT_CONTROLLER(name) FT_CONTROLLER_##name,
	FT_CONTROLLERS(FT_CONTROLLER)
#undef FT_CONTROLLER
};

/* Fixed at load (rodata): the verifier drops what is not used. */
struct ft_load_config {
	__u32 use_v2;           /* cgroup ids by helper from the v2 hierarchy */
	__u32 v1_controller;    /* else: of which v1 controller, FT_CONTROLLER_* */
	__u32 hierarchy_id;     /* of the chosen hierarchy, as in /proc/self/cgroup; v2 is 0 */
	__u32 user_reads;       /* 0 on kernels whose nofault user reads can freeze the host */
	__u32 thread_size;      /* bytes of a kernel stack, for kernels without bpf_task_pt_regs */
	__u32 wake_bytes;       /* the reader is woken when this much waits in the ring */
	__u32 cold_interval_ns; /* between two walks left to user space, on each CPU */
	__u32 cold_burst_ns;    /* how far ahead of that they may come */
};

enum ft_verdict_kind {
	FT_VERDICT_PENDING = 0, /* nobody has decided: sampled, user space sorts it out */
	FT_VERDICT_YES = 1,
	FT_VERDICT_NO = 2,
};

/* A share of the ticks in parts of 65,536. FT_KEEP_ALL keeps every tick. */
#define FT_KEEP_ALL 65536

struct ft_verdict {
	__u8 kind;   /* enum ft_verdict_kind, for the tasks in the cgroup itself */
	__u8 child;  /* the same for cgroups born below it, and below until one is known */
	__u8 tasks;  /* 1: not every task of it is wanted, see struct ft_task */
	__u8 cpus;   /* the struct ft_cpu_set that is wanted of it; 0: all CPUs */
	__u32 keep;  /* FT_TYPE_CPU: share of the ticks that become samples, of FT_KEEP_ALL */
	__u64 value; /* ns. CPU: what one kept sample stands for; waits: the shortest one told */
};

/* The verdicts on a cgroup, by enum ft_type. */
struct ft_verdicts {
	struct ft_verdict of[FT_TYPE_COUNT];
};

/* Settings that user space may change while the programs run. */
struct ft_config {
	struct ft_verdicts fallback; /* where no ancestor is known */
	__u32 epoch;                 /* part of every stack hash; turns with the window */
	__u32 tasks_version;         /* verdicts on tasks of another one do not count */
};

/*
 * The verdict on one thread, for policies that name processes or threads. It is found at
 * ft_task_slot() of the thread id; another thread may have replaced it there. A thread without a
 * verdict is sampled, and the reader is woken to decide.
 */
struct ft_task {
	__u32 tid;
	__u32 identity; /* of its process's image, ft_identity() */
	__u32 version;
	__u32 left_out; /* bit n: the filters of enum ft_type n do not want it */
	/*
	 * These fields are written by the kernel side alone. They say in which cgroups and in
	 * which image a tick of this thread was last dropped. While they match, no other lookup
	 * is needed.
	 */
	__u64 cgroups; /* address of its css_set */
	__u32 exec_id;
	__u32 gate_version; /* struct ft_cpu */
};
#define FT_TASK_SLOTS 8192

/* Fibonacci hashing: the ids of threads that start together are neighbours. */
static inline __u32 ft_task_slot(__u32 tid)
{
	return (tid * 0x9e3779b9u) >> 19;
}

/* CPUs by number; the kernel has at most 8192 (CONFIG_NR_CPUS). */
#define FT_CPU_WORDS 128
struct ft_cpu_set {
	__u64 word[FT_CPU_WORDS];
};
/*
 * The number of different CPU sets that policies may ask for while a daemon runs; the first one
 * is unused. For further sets the kernel side samples too much, and user space drops the excess.
 */
#define FT_CPU_SETS 16

/* Cgroups with a verdict at once; a node has a few hundred. */
#define FT_GATE_ENTRIES 16384
/* Slots of seen stack hashes, direct-mapped: 512 KiB. */
#define FT_SEEN_ENTRIES 65536
/* Levels walked up to find a known ancestor. */
#define FT_MAX_LEVELS 16

#endif
