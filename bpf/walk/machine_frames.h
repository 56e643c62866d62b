/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Frames of runtimes whose code is on the native stack (struct ft_machine), as they are stored. */
#ifndef FIRETOWER_BPF_WALK_MACHINE_FRAMES_H
#define FIRETOWER_BPF_WALK_MACHINE_FRAMES_H

#include "bpf/walk/user_walk.h"

#define FT_READ_FRAME(env, to, size, address) FT_PROBE_USER(to, size, address)
#define FT_READ_FAR(env, to, size, address) FT_PROBE_USER(to, size, address)

/*
 * Stores two words for the frame in hand, or four, in place of its address, and its caller's
 * address. Returns `step`.
 */
static __always_inline int keep_words(struct stack_scratch *scratch, __u64 word, __u64 where,
				      __u64 third, __u64 fourth, int step)
{
	__u32 slot = scratch->head.kernel_frames + scratch->head.user_frames;
	__u64 hash = mix(mix(mix(scratch->head.stack_hash, word), where), third);
	__u64 *to;

	/* Older verifiers do not learn of a number from a comparison of its sum. */
	if (slot < 1 || slot > FT_MAX_FRAMES - 4 ||
	    scratch->head.user_frames > FT_MAX_USER_FRAMES - 4) {
		scratch->walk.stop = FT_STOP_DEPTH;
		return FT_STEP_ENDED;
	}
	to = &scratch->address[slot];
	to[-1] = word;
	to[0] = where;
	scratch->head.user_frames++;
	if (third) {
		*++to = third;
		*++to = fourth;
		scratch->head.user_frames += 2;
	}
	if (step == FT_STEP_CALLER) {
		to[1] = scratch->walk.ip;
		scratch->head.user_frames++;
		hash = mix(hash, scratch->walk.ip);
	}
	scratch->head.stack_hash = hash;
	return step;
}

/* Stores the caller's address, if there is one, behind that of the frame in hand. Returns `step`.
 */
static __always_inline int keep_address(struct stack_scratch *scratch, int step)
{
	__u32 slot = next_slot(scratch);

	if (step != FT_STEP_CALLER)
		return step;
	if (slot >= FT_MAX_FRAMES) {
		scratch->walk.stop = FT_STOP_DEPTH;
		return FT_STEP_ENDED;
	}
	scratch->address[slot] = scratch->walk.ip;
	scratch->head.user_frames++;
	scratch->head.stack_hash = mix(scratch->head.stack_hash, scratch->walk.ip);
	return step;
}

#endif
