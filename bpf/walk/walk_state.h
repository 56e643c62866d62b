/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The state of a walk of a user stack. Both sides include this file. */
#ifndef FIRETOWER_BPF_WALK_WALK_STATE_H
#define FIRETOWER_BPF_WALK_WALK_STATE_H

#include "bpf/abi/unwind.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* arch/x86/include/asm/page_64_types.h: user space ends below this with five-level paging too. */
#define FT_USER_END 0x00ffffffffffffffULL
#define FT_USER_BEGIN 0x1000ULL
#define FT_PAGE_BYTES 4096

/* Keeps the compiler from moving loads and stores across it. x86 itself keeps their order. */
#define FT_COMPILER_BARRIER() __asm__ volatile("" ::: "memory")

/*
 * Bounds a number of bytes where older kernels' verifiers see it: compilers take a mask away that
 * they know to change nothing, and these do not know what the compiler does.
 */
#ifdef __bpf__
#define FT_MASKED(bytes, mask) __asm__ volatile("%0 &= " #mask : "+r"(bytes))
#else
#define FT_MASKED(bytes, mask) ((bytes) &= (mask))
#endif

static __always_inline int ft_is_user_address(__u64 address)
{
	return address >= FT_USER_BEGIN && address <= FT_USER_END;
}

/* The position of a walk: the registers of a frame and the mapping that its code is in. */
struct ft_walk {
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u64 begin; /* the mapping in hand: begin <= pc < end */
	__u64 end;
	__u64 bias;
	struct ft_module module;
	__u32 mappings; /* the process's list; 0 if it has none here */
	__u32 mapping_count;
	__u32 low; /* of the search that is going on */
	__u32 high;
	__u32 returned; /* 1: ip is a return address, the call lies before it */
	/*
	 * 1: the last step left a frame that is the return address of a signal handler. Its
	 * address is that of the first byte, not behind a call. The code that uses this flag
	 * clears it.
	 */
	__u32 trampoline;
	__u32 guessed; /* the last step was by frame pointer: ip need not be code */
	__u32 stop;    /* enum ft_stop, once the walk has ended */
	__u32 machine; /* position of the process's struct ft_machine, or 0 … */
	__u32 machine_kind;
	__u64 machine_code; /* … and what it says: 0 bytes where there is none */
	__u64 machine_bytes;
	__u64 builtins;
	__u64 builtins_bytes;
	__u32 machine_library;
	__u32 mapped;       /* module of the mapping in hand */
	__u32 machine_here; /* enum ft_machine_here of the frame */
	__u32 pad1;
};

/*
 * Frames of V8's that are not in the ranges: each of its isolates, one a thread, has memory of its
 * own for code. They are told by their mapping.
 */
enum ft_machine_here {
	FT_HERE_NOT = 0,
	FT_HERE_COMPILED = 1,
	FT_HERE_BUILTIN = 2,
};

/* 1: the frame is of the code of the process's machine. */
static __always_inline int ft_in_machine(const struct ft_walk *walk)
{
	__u64 pc = walk->ip - walk->returned;

	return walk->machine_here || pc - walk->machine_code < walk->machine_bytes ||
	       pc - walk->builtins < walk->builtins_bytes;
}

/* Sets the walk to the code of a process's machine. */
static __always_inline void ft_set_machine(struct ft_walk *walk, const struct ft_machine *machine)
{
	walk->machine_kind = machine->kind;
	walk->machine_code = machine->low;
	walk->machine_bytes = machine->bytes;
	walk->builtins = machine->builtins;
	walk->builtins_bytes = machine->builtins_bytes;
	walk->machine_library = machine->module;
}

/* Tells what a frame without a rule is to the machine of its process. */
static __always_inline __u32 ft_machine_here(const struct ft_walk *walk)
{
	if (walk->machine_kind != FT_MACHINE_V8)
		return FT_HERE_NOT;
	if (walk->mapped == FT_MODULE_WRITTEN)
		return FT_HERE_COMPILED;
	return walk->mapped == walk->machine_library ? FT_HERE_BUILTIN : FT_HERE_NOT;
}

/*
 * A cache entry with a rule that was found, because return addresses repeat from sample to
 * sample. A search in the table reads three or four cache lines, this entry one or two.
 */
struct ft_cached_rule {
	__u64 offset;
	__u32 serial; /* ft_module's: 0 if free */
	__u32 behind;
	struct ft_rule rule;
};

#define FT_CACHED_RULES 512

static __always_inline __u32 ft_cached_rule_index(__u64 offset, __u32 serial)
{
	__u32 hash = ((__u32)offset ^ serial * 0x9e3779b9u) * 2654435761u;

	return hash >> 23;
}

FT_STATIC_ASSERT(FT_CACHED_RULES == 1u << (32 - 23), "each index has its place");

/* The words of the stack that were read last (bpf/walk/user_stack.h). */
#define FT_LINE_BYTES 64
#define FT_WINDOW_WORDS (2 * FT_LINE_BYTES / 8)

struct stack_window {
	__u64 begin; /* a multiple of 8 */
	__u64 bytes; /* 0: there is none */
	__u64 word[FT_WINDOW_WORDS];
};

enum ft_step {
	FT_STEP_ENDED = 0,  /* walk->stop says why */
	FT_STEP_CALLER = 1, /* the registers are the caller's now */
	FT_STEP_COLD =
		2, /* what is needed to go on is not here yet: the registers are the frame's */
	FT_STEP_MACHINE = 3, /* the frame is of the process's machine: that has to step over it */
};

/* Goes on from a machine's frame to its caller. Returns enum ft_step. */
static __always_inline int ft_machine_caller(struct ft_walk *walk, __u64 ip, __u64 sp, __u64 bp)
{
	if (!ft_is_user_address(ip) || sp <= walk->sp) {
		walk->stop = FT_STOP_RUNTIME;
		return FT_STEP_ENDED;
	}
	walk->ip = ip;
	walk->sp = sp;
	walk->bp = bp;
	walk->returned = 1;
	walk->guessed = 0;
	return FT_STEP_CALLER;
}

#endif
