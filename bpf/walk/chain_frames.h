/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* How the steps over an interpreter's frames store them, and send the functions that they are of.
 */
#ifndef FIRETOWER_BPF_WALK_CHAIN_FRAMES_H
#define FIRETOWER_BPF_WALK_CHAIN_FRAMES_H

#include "bpf/walk/chain_scratch.h"

/* Functions that were sent, by hashes that hold the epoch. A collision only sends one again. */
#define FT_FUNCTION_ENTRIES 16384

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_FUNCTION_ENTRIES);
	__type(key, __u32);
	__type(value, __u64);
} ft_functions SEC(".maps");

/* Stores one word about the chain. Returns 0, or -1 if there is no room. */
static __always_inline int keep_word(struct stack_scratch *scratch, __u64 word)
{
	__u32 slot = scratch->head.kernel_frames + scratch->head.user_frames;

	if (scratch->head.user_frames >= FT_MAX_USER_FRAMES || slot >= FT_MAX_FRAMES)
		return -1;
	scratch->address[slot] = word;
	scratch->head.user_frames++;
	scratch->head.stack_hash = mix(scratch->head.stack_hash, word);
	return 0;
}

/* The frames of a run are through; the caller that waited is stored. */
static __always_inline int leave_frames(struct stack_scratch *scratch)
{
	if (scratch->chain_ended)
		return scratch->chain == CHAIN_FRAMES ? FT_STEP_CALLER : FT_STEP_ENDED;
	if (!scratch->loop_bytes && scratch->chain == CHAIN_BELOW &&
	    scratch->walk.sp > scratch->entry) {
		scratch->chain = CHAIN_FRAMES;
		return keep_word(scratch, FT_WORD_JOIN) ? FT_STEP_ENDED : FT_STEP_CALLER;
	}
	return keep_word(scratch, scratch->walk.ip + !scratch->walk.returned) ? FT_STEP_ENDED :
										FT_STEP_CALLER;
}

/*
 * Ends a turn of the chain. `through`: the frames of the loop in hand are; `full`: there is no room
 * for more. Returns enum ft_step.
 */
static __always_inline int end_turn(struct stack_scratch *scratch, int through, int full)
{
	if (through && !full)
		return leave_frames(scratch);
	if (!full)
		return FT_STEP_CALLER;
	if (!scratch->chain_ended)
		scratch->walk.stop = FT_STOP_DEPTH;
	return FT_STEP_ENDED;
}

/*
 * Goes on with the thread's frames, or without any, where the walk has met code of their runtime;
 * the caller that the last step found waits.
 */
static __always_inline int enter_chain(struct stack_scratch *scratch, int has_frames)
{
	__u32 slot = scratch->head.kernel_frames + scratch->head.user_frames;

	scratch->chain = CHAIN_FRAMES;
	if (!has_frames)
		scratch->chain = CHAIN_DONE;
	else if (!scratch->loop_bytes)
		return FT_STEP_CALLER;
	else if (slot && slot <= FT_MAX_FRAMES && is_loop(scratch, scratch->address[slot - 1]))
		return FT_STEP_CALLER;
	else
		scratch->chain = CHAIN_BELOW;
	return leave_frames(scratch);
}

/*
 * Leaves out the frame in hand, where it is of what the loop calls or is called by: then the loop's
 * own is next, in its place. 1: it was so.
 */
static __always_inline int leave_core(struct stack_scratch *scratch)
{
	__u32 slot = scratch->head.kernel_frames + scratch->head.user_frames;
	__u64 caller = scratch->walk.ip + !scratch->walk.returned, *to;

	if (!slot || slot >= FT_MAX_FRAMES)
		return 0;
	to = &scratch->address[slot];
	if (!leaves_out(scratch, to[-1], caller))
		return 0;
	scratch->chain = CHAIN_BELOW;
	to[-1] = caller;
	return 1;
}

/*
 * Begins the record of the function in hand. Returns where `hash` is noted once it is sent, or NULL
 * if it went before in this epoch.
 */
static __always_inline __u64 *begin_function(struct stack_scratch *scratch,
					     struct chain_scratch *chain, __u32 cookie, __u64 *hash)
{
	struct ft_function *to = &chain->function;
	struct ft_stack *head = &scratch->head;
	__u64 *sent;
	__u32 slot;

	*hash = mix(mix((__u64)head->tgid << 32 | head->epoch, head->start_ns ^ head->exec_id),
		    chain->code ^ ((__u64)cookie << 32));
	slot = *hash & (FT_FUNCTION_ENTRIES - 1);
	sent = bpf_map_lookup_elem(&ft_functions, &slot);
	if (!sent || *sent == *hash)
		return NULL;
	to->time_ns = head->time_ns;
	to->code = chain->code;
	to->start_ns = head->start_ns;
	to->tgid = head->tgid;
	to->exec_id = head->exec_id;
	to->epoch = head->epoch;
	to->cookie = cookie;
	to->kind = FT_KIND_FUNCTION;
	return sent;
}

/* Sends the record with so many bytes of `lines`. */
static __always_inline void end_function(struct ft_function *to, __u64 bytes, __u64 *sent,
					 __u64 hash)
{
	to->lines_bytes = (__u32)bytes;
	FT_MASKED(bytes, 4095);
	if (!bpf_ringbuf_output(&ft_ring, to, __builtin_offsetof(struct ft_function, lines) + bytes,
				BPF_RB_NO_WAKEUP))
		*sent = hash;
}

#endif
