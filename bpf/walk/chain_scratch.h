/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The memory in which frames of an interpreter are read, one at a time, and how they are read. */
#ifndef FIRETOWER_BPF_WALK_CHAIN_SCRATCH_H
#define FIRETOWER_BPF_WALK_CHAIN_SCRATCH_H

#include "bpf/walk/chain.h"
#include "bpf/walk/user_walk.h"

/*
 * Frames of calls lie behind one another, the caller's first. A read costs mostly its call, so one
 * fetches what lies before a frame as well.
 */
#define FT_CHAIN_WINDOW_BYTES 512

/*
 * glibc, x86-64, from 2.31 on: the first 32 keys' values lie in struct pthread, at FS, from here
 * on, each as {sequence number, value}.
 */
#define FT_PTHREAD_KEYS 0x310
#define FT_PTHREAD_NEAR_KEYS 32

/* The place of RSP in struct pt_regs, in words. */
#define FT_STACK_POINTER 19

struct chain_scratch {
	union {
		struct ft_python build;
		struct ft_php php;
		struct ft_ruby ruby;
		struct ft_perl perl;
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

/* Reads a word of user memory, not by way of the stack, of which five calls have 512 bytes. */
static __always_inline __u64 word_at(struct chain_scratch *chain, const __u64 address)
{
	return bpf_probe_read_user(&chain->word, 8, (void *)address) ? 0 : chain->word;
}

/* Returns the stack pointer of the interrupted code, or 0 where it is not known. */
static __always_inline __u64 leaf_stack(struct stack_scratch *scratch, struct chain_scratch *chain)
{
	const __u64 at = scratch->registers + FT_STACK_POINTER * 8;

	if (!scratch->registers || bpf_probe_read_kernel(&chain->word, 8, (void *)at))
		return 0;
	return chain->word;
}

/* Returns what the thread at chain->fs has for a pthread key; 0: nothing, or it is not near. */
static __always_inline __u64 thread_value(struct chain_scratch *chain, __u32 key)
{
	if (key >= FT_PTHREAD_NEAR_KEYS)
		return 0;
	return word_at(chain, chain->fs + FT_PTHREAD_KEYS + key * 16 + 8);
}

/* The offsets are bounded where user space makes them; the masks are for the verifier. */
#define FT_FRAME_BYTE(chain, offset) \
	((chain)->window + ((chain)->at & (FT_CHAIN_WINDOW_BYTES - 8)) + ((offset)&127))
#define FT_FRAME_WORD(chain, offset) (*(__u64 *)FT_FRAME_BYTE(chain, (offset)&120))
#define FT_CODE_WORD(chain, offset) (*(__u64 *)((chain)->code_bytes + ((offset)&248)))

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

#endif
