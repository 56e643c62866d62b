/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Sends the rest of a walk to user space when it met code without an unwind table (a cold
 * stack).
 */
#ifndef FIRETOWER_BPF_LIB_COLD_H
#define FIRETOWER_BPF_LIB_COLD_H

#include "bpf/lib/scratch.h"
#include "bpf/walk/user_walk.h"

/* Tells whether this CPU may send another cold stack: a fixed rate per second plus a burst. */
static __always_inline int cold_due(struct stack_scratch *scratch)
{
	__u64 due = scratch->cold_due_ns, now = scratch->head.time_ns;

	if (due < now)
		due = now;
	if (due > now + load_config.cold_burst_ns)
		return 0;
	scratch->cold_due_ns = due + load_config.cold_interval_ns;
	return 1;
}

/*
 * Tells whether the stack is longer than `bytes` (a constant), counted in pages from that of
 * `sp`.
 */
static __always_inline int is_deeper(__u64 sp, const __u64 bytes)
{
	__u64 page = ft_cold_begin(sp) & ~(FT_PAGE_BYTES - 1ULL), word;
	/* The process's arguments lie behind its first word of stack. */
	__u64 left = stack_start() - page;

	if (left <= bytes)
		return 0;
	if (left <= FT_COLD_DEEP_BYTES)
		return 1;
	return !bpf_probe_read_user(&word, sizeof(word), (void *)(page + bytes));
}

/*
 * Copies at most room_bytes (a constant) of the stack from `begin` to the bytes behind `cold`.
 * Copies page by page, because one read across an absent page fails as a whole. Absent pages in
 * the middle exist: a large array that its function has not filled yet. The helper zeroes the
 * bytes that it cannot read.
 */
static __always_inline void copy_stack(struct ft_cold *cold, __u64 begin, const __u32 room_bytes)
{
	__u8 *to = (__u8 *)(cold + 1);
	__u32 copied = 0;

	cold->stack_bytes = 0;
	__builtin_memset(cold->absent, 0, sizeof(cold->absent));
	for (__u32 page = 0; page < room_bytes / FT_PAGE_BYTES; page++) {
		__u32 size = FT_PAGE_BYTES - ((begin + copied) & (FT_PAGE_BYTES - 1));

		if (copied > room_bytes - FT_PAGE_BYTES || size > FT_PAGE_BYTES)
			break;
		if (bpf_probe_read_user(to + copied, size, (void *)(begin + copied)))
			cold->absent[page] = 1;
		else
			cold->stack_bytes = copied + size;
		copied += size;
	}
}

/* Fills `cold`, which has room_bytes (a constant) behind it. */
static __always_inline void fill_cold(struct ft_cold *cold, struct stack_scratch *scratch,
				      const __u32 room_bytes)
{
	struct ft_walk *walk = &scratch->walk;

	cold->ip = walk->ip;
	cold->sp = walk->sp;
	cold->bp = walk->bp;
	cold->returned = walk->returned;
	cold->stack_start = stack_start();
	cold->entry = scratch->chain == CHAIN_BELOW && !scratch->loop_bytes ? scratch->entry : 0;
	if (scratch->head.user_frames > 1 + walk->returned || !scratch->registers ||
	    bpf_probe_read_kernel(cold->registers, sizeof(cold->registers),
				  (void *)scratch->registers))
		__builtin_memset(cold->registers, 0, sizeof(cold->registers));
	copy_stack(cold, ft_cold_begin(walk->sp), room_bytes);
}

#endif
