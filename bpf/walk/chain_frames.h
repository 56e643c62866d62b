/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The frame in hand of an interpreter, and its words in a stack: the steps over them share this. */
#ifndef FIRETOWER_BPF_WALK_CHAIN_FRAMES_H
#define FIRETOWER_BPF_WALK_CHAIN_FRAMES_H

#include "bpf/walk/chain.h"
#include "bpf/walk/user_walk.h"

/*
 * Frames of calls lie behind one another, the caller's first. A read costs mostly its call, so one
 * fetches what lies before a frame as well.
 */
#define FT_CHAIN_WINDOW_BYTES 512

struct chain_scratch {
	union {
		struct ft_python build;
		struct ft_php php;
		struct ft_ruby ruby;
	};
	__u64 frame;  /* the next one */
	__u64 record; /* FT_PYTHON_CFRAME: that of the run in hand */
	__u64 code;
	__u64 code_type;
	__u64 word;  /* that was read last */
	__u64 taken; /* frames of the run in hand */
	/* A search for the thread's state (bpf/walk/python/thread.h). */
	__u64 fs;
	__u64 interpreter;
	__u64 state;
	__u64 strides;
	__u64 window_begin; /* user address of the first of these bytes */
	__u64 window_bytes;
	__u64 at; /* of the frame in hand, in the window */
	__u8 window[FT_CHAIN_WINDOW_BYTES + FT_CHAIN_FRAME_BYTES + 16];
	__u8 code_bytes[256];
	struct ft_function function;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct chain_scratch);
} ft_chain SEC(".maps");

/* Functions that were sent, by hashes that hold the epoch. A collision only sends one again. */
#define FT_FUNCTION_ENTRIES 16384

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_FUNCTION_ENTRIES);
	__type(key, __u32);
	__type(value, __u64);
} ft_functions SEC(".maps");

/* Reads a word of user memory, not by way of the stack, of which five calls have 512 bytes. */
static __always_inline __u64 word_at(struct chain_scratch *chain, const __u64 address)
{
	return bpf_probe_read_user(&chain->word, 8, (void *)address) ? 0 : chain->word;
}

/* The offsets are bounded where user space makes them; the masks are for the verifier. */
#define FT_FRAME_BYTE(chain, offset) \
	((chain)->window + ((chain)->at & (FT_CHAIN_WINDOW_BYTES - 8)) + ((offset)&127))
#define FT_FRAME_WORD(chain, offset) (*(__u64 *)FT_FRAME_BYTE(chain, (offset)&120))
#define FT_CODE_WORD(chain, offset) (*(__u64 *)((chain)->code_bytes + ((offset)&248)))

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
 * Reads the frame at `frame`, of so many bytes. Where frames are `near` one another, what lies
 * before it in its page comes along. Returns 0, or -1.
 */
static __always_inline int read_frame(struct chain_scratch *chain, __u64 frame, __u64 bytes,
				      int near)
{
	__u64 at = frame - chain->window_begin, before;

	if (at < chain->window_bytes && chain->window_bytes - at >= bytes) {
		chain->at = at;
		return 0;
	}
	before = frame & (FT_PAGE_BYTES - 1) & ~7ULL;
	if (!near)
		before = 0;
	else if (before > FT_CHAIN_WINDOW_BYTES - 8)
		before = FT_CHAIN_WINDOW_BYTES - 8;
	bytes += before;
	FT_MASKED(bytes, 1023);
	if (bytes > sizeof(chain->window))
		return -1;
	chain->window_bytes = 0;
	if (bpf_probe_read_user(chain->window, bytes, (void *)(frame - before)))
		return -1;
	chain->window_begin = frame - before;
	chain->window_bytes = bytes;
	chain->at = before;
	return 0;
}

/* Does the same for frames that lie the other way round: what lies behind it comes along. */
static __always_inline int read_frame_ahead(struct chain_scratch *chain, __u64 frame, __u64 bytes)
{
	__u64 at = frame - chain->window_begin, size;

	if (at < chain->window_bytes && chain->window_bytes - at >= bytes) {
		chain->at = at;
		return 0;
	}
	size = FT_PAGE_BYTES - (frame & (FT_PAGE_BYTES - 1));
	if (size > FT_CHAIN_WINDOW_BYTES)
		size = FT_CHAIN_WINDOW_BYTES;
	if (size < bytes)
		size = bytes;
	FT_MASKED(size, 1023);
	if (size > sizeof(chain->window))
		return -1;
	chain->window_bytes = 0;
	if (bpf_probe_read_user(chain->window, size, (void *)frame))
		return -1;
	chain->window_begin = frame;
	chain->window_bytes = size;
	chain->at = 0;
	return 0;
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
