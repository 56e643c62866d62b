/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The records in the sample ring. Both sides include this file: fixed-width fields only,
 * explicit padding, no pointers. Every record has its kind in the same byte.
 */
#ifndef FIRETOWER_BPF_ABI_RECORD_H
#define FIRETOWER_BPF_ABI_RECORD_H

#include <linux/types.h>

#include "bpf/abi/lock.h"

#define FT_ABI_VERSION 14

#ifdef __cplusplus
#define FT_STATIC_ASSERT static_assert
#else
#define FT_STATIC_ASSERT _Static_assert
#endif

/* The most kernel frames that the kernel's own stack walk may return (its sysctl's default). */
#define FT_MAX_KERNEL_FRAMES 127
/*
 * The most user frames: compilers and parsers recurse some thousand levels deep. Together with
 * the kernel frames they just fit the value of a per-CPU map, which has 32 KiB at most
 * (PCPU_MIN_UNIT_SIZE).
 */
#define FT_MAX_USER_FRAMES 3840
/* A cgroup path of a nested Kubernetes node is about 320 bytes; longer ones are flagged cut. */
#define FT_CGROUP_PATH_BYTES 1024

enum ft_kind {
	FT_KIND_SAMPLE = 1,
	FT_KIND_STACK = 2,
	FT_KIND_CGROUP = 3,
	FT_KIND_COLD = 4,     /* a sample whose walk user space finishes */
	FT_KIND_WAIT = 5,     /* a thread has waited and runs again */
	FT_KIND_FUNCTION = 6, /* of an interpreter's (bpf/abi/runtime.h) */
	FT_KIND_TRACE = 7,    /* of a sample (bpf/abi/trace.h) */
	FT_KIND_FREED = 8,    /* what a sample of FT_TYPE_MEMORY stands for (bpf/abi/alloc.h) */
};

/* The most different events that are sampled on a node at once. */
#define FT_MAX_EVENTS 4
/*
 * The types of profiles. Each has a family of programs, and each event that policies name has a
 * number of its own from FT_TYPE_EVENT on.
 */
enum ft_type {
	FT_TYPE_CPU = 0,
	FT_TYPE_OFFCPU = 1,
	FT_TYPE_LOCK = 2,
	FT_TYPE_MEMORY = 3,
	FT_TYPE_EVENT = 4,
	FT_TYPE_COUNT = FT_TYPE_EVENT + FT_MAX_EVENTS,
};

/* The reason why a user walk ended. Only FT_STOP_ROOT means a complete stack. */
enum ft_stop {
	FT_STOP_ROOT = 0,    /* frame pointer or return address zero: the thread's first frame */
	FT_STOP_NO_USER = 1, /* a kernel thread has no user part; complete as well */
	FT_STOP_PAGE = 2,    /* the frame's page is not resident, or is no memory at all */
	FT_STOP_FRAME_POINTER = 3, /* no unwind row, and no chain of frame pointers either */
	FT_STOP_RETURN = 4,        /* a return address outside of user space */
	FT_STOP_DEPTH = 5,         /* more than FT_MAX_USER_FRAMES */
	FT_STOP_EXEC = 6,          /* inside execve: the old image is half gone */
	FT_STOP_REFUSED = 7,       /* user reads are off on this kernel */
	FT_STOP_COLD = 8,    /* code whose table was not there, and no room to send its stack */
	FT_STOP_RUNTIME = 9, /* code of a runtime that the walk could not step over */
	FT_STOP_COUNT = 10,
};

enum ft_sample_flag {
	FT_SAMPLE_NO_STACK = 1, /* its body found no room in the ring */
	FT_SAMPLE_TRACED = 2,   /* its thread worked on a trace: an ft_trace went before */
};

struct ft_sample {
	__u64 time_ns;    /* CLOCK_MONOTONIC */
	__u64 stack_hash; /* names the ft_stack that went before, in this or the last epoch */
	__u64 cgroup_id;  /* in the hierarchy chosen at load */
	__u64 value;      /* what it stands for: nanoseconds of CPU; events; ft_allocations() */
	__u32 tgid;
	__u32 tid;
	__u16 cpu;
	__u8 kind;
	__u8 type;
	__u8 stop; /* enum ft_stop */
	__u8 flags;
	__u16 cold; /* user space's own: which of a round's cold stacks is this sample's */
};

/*
 * The value of a sample of FT_TYPE_MEMORY: it stands for `every` allocations, at least 1, of
 * `bytes` each.
 */
#define FT_ALLOC_EVERY_MOST 0xffff
#define FT_ALLOC_BYTES_MOST (1ULL << 47) /* a call that asks for more fails */
static inline __u64 ft_allocations(__u64 every, __u64 bytes)
{
	return bytes << 16 | every;
}

/*
 * kernel_frames and then user_frames addresses of 8 bytes follow this header, each part leaf
 * first. Some of the latter are words about frames of an interpreter (bpf/abi/runtime.h).
 */
struct ft_stack {
	__u64 time_ns;
	__u64 stack_hash;
	__u64 start_ns; /* when the process began: with tgid, its identity */
	__u32 tgid;
	__u32 exec_id; /* execs of this process so far */
	__u32 epoch;
	__u32 pad0;
	__u16 user_frames;
	__u8 kind;
	__u8 stop;
	__u8 kernel_frames;
	__u8 pad1;
	__u16 pad2;
};

/*
 * The bytes of stack that a cold sample carries, from ft_cold_begin() of the frame on and as far
 * as pages are resident. The larger sizes are for the few stacks that need them: a `main` that
 * keeps its tables on the stack fills the smallest by itself.
 */
#define FT_COLD_STACK_BYTES 16384
#define FT_COLD_MIDDLE_BYTES 32768
#define FT_COLD_DEEP_BYTES 65536
#define FT_COLD_PAGES (FT_COLD_DEEP_BYTES / 4096)

/*
 * The red zone: rules of a leaf may read 128 bytes below RSP (System V ABI, AMD64 supplement,
 * 3.2.2), which hold values that the function has already popped. If the red zone is on another
 * page and that page is absent, the copy is made without it.
 */
#define FT_RED_ZONE_BYTES 128
static inline __u64 ft_cold_begin(__u64 sp)
{
	__u64 in_page = sp & 4095;

	return sp - (in_page < FT_RED_ZONE_BYTES ? in_page : FT_RED_ZONE_BYTES);
}

/*
 * A sample of FT_KIND_COLD. Its stack_hash names a stack body that ends at the frame described
 * here; user space continues the walk from this frame. The record carries stack_bytes of the
 * stack behind this struct. Any bytes after them are meaningless.
 */
struct ft_cold {
	struct ft_sample sample;
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u32 returned;      /* ip is a return address */
	__u32 stack_bytes;   /* valid behind this, from ft_cold_begin(sp) on */
	__u64 registers[15]; /* as in struct pt_regs, of the leaf or its caller; else zero */
	__u64 stack_start;   /* the process's first word of stack (argc) */
	__u64 entry; /* an interpreter's run whose frames are in the body; 0: there is none */
	__u8 absent[FT_COLD_PAGES]; /* not 0: that page is absent, and zeros stand for it */
};

/*
 * Maps a DWARF register number to its index in `registers`: one nibble for each, from RAX = 0
 * up. RSP is not in `registers`.
 */
#define FT_REGISTER_SLOTS 0x0123678904ed5bcaULL
#define FT_REGISTER_SLOT(number) ((FT_REGISTER_SLOTS >> (((number)&15) * 4)) & 15)

/* Why a thread left its CPU. */
enum ft_wait_state {
	FT_WAIT_PREEMPTED = 0,       /* it could have run on: all of its wait is for a CPU */
	FT_WAIT_SLEEPING = 1,        /* it can be interrupted by a signal */
	FT_WAIT_UNINTERRUPTIBLE = 2, /* mostly for a disk or a lock of the kernel */
	FT_WAIT_STOPPED = 3,         /* by a signal or a debugger */
	FT_WAIT_STATES = 4,
};

/*
 * One wait of a thread, from switch-out to switch-in. The sample's stack is the one that it left
 * its CPU with, its time_ns the end, its cpu the one that it left, its value the nanoseconds from
 * begin_ns to the end. Of these, runqueue_ns were for a CPU: from wake-up on. Waits are sampled: it
 * stands for `waits` waits of the thread at that place, itself among them, which took total_ns, of
 * that total_runqueue_ns on a run queue.
 */
struct ft_wait {
	struct ft_sample sample; /* of FT_KIND_WAIT; its type is the first of `types` */
	__u64 begin_ns;          /* CLOCK_MONOTONIC */
	__u64 runqueue_ns;
	__u64 total_ns;
	__u64 total_runqueue_ns;
	__u64 waits;
	__u64 waker_stack; /* names the ft_stack of who woke it by futex(2); 0: none */
	__u32 share;       /* the probability with which it was taken, of FT_KEEP_ALL */
	__u32 waker_tid;   /* who woke it: 0 when preempted, or when an interrupt did while idle */
	__u32 waker_tgid;  /* of waker_stack */
	__u8 state;        /* enum ft_wait_state */
	__u8 types;        /* bit n: it counts for enum ft_type n */
	__u8 pad0[2];
	__u8 waker_comm[16];
	struct ft_futex futex;
};

enum ft_cgroup_change {
	FT_CGROUP_MKDIR = 1,
	FT_CGROUP_RMDIR = 2,
	FT_CGROUP_RENAME = 3,
	FT_CGROUP_OOM_KILL = 4, /* a task in it is killed for memory; no path follows */
};

/* Followed by path_bytes of the path, without a terminator. */
struct ft_cgroup_event {
	__u64 time_ns;
	__u64 cgroup_id;
	__u64 pad0;
	__u64 pad1;
	__u32 pad2;
	__u32 pad3;
	__u16 path_bytes;
	__u8 kind;
	__u8 change;   /* enum ft_cgroup_change */
	__u8 path_cut; /* the path did not fit */
	__u8 pad4;
	__u16 pad5;
};

FT_STATIC_ASSERT(sizeof(struct ft_sample) == 48, "a sample is 48 bytes");
FT_STATIC_ASSERT(sizeof(struct ft_stack) == 48, "all records have a 48-byte head");
FT_STATIC_ASSERT(sizeof(struct ft_cold) == 48 + 40 + 128 + FT_COLD_PAGES, "no gaps");
FT_STATIC_ASSERT(sizeof(struct ft_wait) == 48 + 80 + 48, "no gaps");
FT_STATIC_ASSERT(sizeof(struct ft_cgroup_event) == 48, "all records have a 48-byte head");
FT_STATIC_ASSERT(__builtin_offsetof(struct ft_sample, kind) == 42, "kind is at byte 42");
FT_STATIC_ASSERT(__builtin_offsetof(struct ft_stack, kind) == 42, "kind is at byte 42");
FT_STATIC_ASSERT(__builtin_offsetof(struct ft_cgroup_event, kind) == 42, "kind is at byte 42");

#define FT_MAX_STACK_BYTES \
	(sizeof(struct ft_stack) + 8 * (FT_MAX_KERNEL_FRAMES + FT_MAX_USER_FRAMES))

#endif
