/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * One step over a frame of V8's, which is told by the word below its frame pointer: a frame type,
 * or a context, and then the function lies below that (StandardFrameConstants and
 * TypedFrameConstants of V8's src/execution/frame-constants.h). x86-64.
 *
 * The including file defines FT_REGISTER of bpf/walk/unwind.h and, as for HotSpot,
 *   FT_READ_FRAME(env, to, size, address)  0, or an error if any byte of the stack is not resident
 *   FT_READ_FAR(env, to, size, address)    the same of the process's other memory
 */
#ifndef FIRETOWER_BPF_WALK_V8_STEP_H
#define FIRETOWER_BPF_WALK_V8_STEP_H

#include "bpf/abi/v8.h"
#include "bpf/walk/walk_state.h"

/* DWARF number of the register that a function is called with its JSFunction in. */
#define FT_REG_RDI 5

/* Bytes of code from the program counter of a leaf on, and before it. */
#define FT_V8_CODE_BEFORE 4
#define FT_V8_CODE_BYTES 8

/* The words of a frame that are read: its own below the frame pointer, and the caller's two. */
enum v8_word {
	V8_BYTECODE =
		0, /* fp - 40: in the interpreter, the place of the bytecode, a small integer */
	V8_FUNCTION = 3,
	V8_TYPE = 4, /* fp - 8: the frame's type, a small integer; else the context */
	V8_BP = 5,
	V8_RETURN = 6,
	V8_WORDS = 7,
};

#define FT_V8_BELOW (V8_BP * 8)

/* Bytes that a read of a frame takes, a multiple of 8 below 512. */
#define FT_V8_WINDOW_BYTES 504

struct v8_walk {
	struct ft_v8 vm;
	/* The frame in hand, as a stack body has it; no word: by its address; no code: by
	 * two. */
	__u64 word;
	__u64 where;
	__u64 code;
	__u64 feedback;
	__u64 here;    /* enum ft_machine_here */
	__u64 address; /* that was read last */
	__u64 frame[V8_WORDS];
	/* Words of the stack that were read last: a read costs mostly its call. */
	__u64 window_begin;
	__u64 window_bytes;
	__u8 window[FT_V8_WINDOW_BYTES + V8_WORDS * 8];
	__u8 function[FT_V8_FUNCTION_BYTES];
	__u8 shared[FT_V8_SHARED_BYTES];
	__u8 bytes[FT_V8_CODE_BYTES];
};

enum v8_leaf {
	V8_LEAF_WHOLE = 0,  /* the frame pointer is its own, or that of who called a stub */
	V8_LEAF_RETURN = 1, /* the return address is on top of the stack */
	V8_LEAF_PUSHED = 2, /* the caller's RBP is, and behind it the return address */
};

/* The offsets are bounded where user space makes them; the masks are for the verifier. */
#define FT_V8_FUNCTION(v, offset) (*(__u64 *)((v)->function + ((offset)&56)))
#define FT_V8_SHARED(v, offset) (*(__u64 *)((v)->shared + ((offset)&56)))

/* 1: the value is a pointer to an object. */
static __always_inline int ft_is_tagged(__u64 value)
{
	return (value & FT_V8_TAG_MASK) == FT_V8_TAG && ft_is_user_address(value);
}

/* 1: the code is of the built-in functions, so that a JavaScript frame of it is interpreted. */
static __always_inline int ft_is_builtin(struct v8_walk *v, __u64 pc)
{
	return v->here == FT_HERE_BUILTIN || pc - v->vm.at.builtins < v->vm.at.builtins_bytes ||
	       pc - v->vm.copied < v->vm.copied_bytes;
}

/* Sets the frame in hand to a function, given its JSFunction and the position in its code. */
static __always_inline void ft_set_script(void *env, struct v8_walk *v, __u64 function,
					  __u32 position)
{
	if (!ft_is_tagged(function) ||
	    FT_READ_FAR(env, v->function, FT_V8_FUNCTION_BYTES, function - FT_V8_TAG))
		return;
	v->address = FT_V8_FUNCTION(v, v->vm.function_shared);
	if (!ft_is_tagged(v->address) ||
	    FT_READ_FAR(env, v->shared, FT_V8_SHARED_BYTES, v->address - FT_V8_TAG))
		return;
	v->word = FT_WORD_SCRIPT | (v->address - FT_V8_TAG);
	v->where = (__u64)ft_v8_cookie(FT_V8_SHARED(v, v->vm.shared_name),
				       FT_V8_SHARED(v, v->vm.shared_script))
			   << 32 |
		   position;
}

/* Adds to the frame in hand which compiled code its function has, if any. */
static __always_inline void ft_set_compiled(void *env, struct v8_walk *v, __u64 leaf)
{
	if (!v->word || !v->vm.function_code)
		return;
	v->address = FT_V8_FUNCTION(v, v->vm.function_code);
	if (v->vm.dispatch) {
		v->address = ((__u32)v->address >> FT_V8_DISPATCH_SHIFT) * FT_V8_DISPATCH_BYTES;
		if (FT_READ_FAR(env, &v->address, 8,
				v->vm.dispatch + v->address + FT_V8_DISPATCH_CODE))
			return;
		v->address = ft_v8_dispatched(v->address);
	}
	if (!ft_is_tagged(v->address))
		return;
	v->word |= FT_WORD_COMPILED_SCRIPT;
	v->code = (v->address - FT_V8_TAG) | leaf;
	v->feedback = FT_V8_FUNCTION(v, v->vm.function_feedback) & ~(__u64)FT_V8_TAG_MASK;
}

/*
 * Tells how much of its frame a leaf has: push rbp is 55, mov rbp, rsp 48 89 e5 or 48 8b ec, and a
 * return c3 or c2.
 */
static __always_inline int ft_v8_leaf(void *env, struct ft_walk *walk, struct v8_walk *v)
{
	const __u8 *code = v->bytes + FT_V8_CODE_BEFORE;

	if (FT_READ_FAR(env, v->bytes, FT_V8_CODE_BYTES, walk->ip - FT_V8_CODE_BEFORE))
		return V8_LEAF_WHOLE;
	if (code[0] == 0x55 || code[0] == 0xc3 || code[0] == 0xc2)
		return V8_LEAF_RETURN;
	if (code[-1] == 0x55 && code[0] == 0x48 &&
	    ((code[1] == 0x89 && code[2] == 0xe5) || (code[1] == 0x8b && code[2] == 0xec)))
		return V8_LEAF_PUSHED;
	return V8_LEAF_WHOLE;
}

/* Steps over a leaf whose frame is not there yet, or not any more. */
static __always_inline int ft_v8_part(void *env, struct ft_walk *walk, struct v8_walk *v, int leaf)
{
	__u64 at = leaf == V8_LEAF_PUSHED ? 8 : 0, function = 0;

	/* At its end the register has something else. */
	if ((leaf == V8_LEAF_PUSHED || v->bytes[FT_V8_CODE_BEFORE] == 0x55) &&
	    !ft_is_builtin(v, walk->ip) && !FT_REGISTER(env, FT_REG_RDI, &function))
		ft_set_script(env, v, function, 0);
	if (FT_READ_FRAME(env, v->frame, 16, walk->sp)) {
		walk->stop = FT_STOP_PAGE;
		return FT_STEP_ENDED;
	}
	return ft_machine_caller(walk, v->frame[at / 8], walk->sp + at + 8, walk->bp);
}

/* Reads the words of the frame in hand, with what lies behind them in their page. Returns 0, or -1.
 */
static __always_inline int ft_v8_frame(void *env, struct v8_walk *v, __u64 from)
{
	__u64 at = from - v->window_begin, bytes = FT_PAGE_BYTES - (from & (FT_PAGE_BYTES - 1));

	if (at >= v->window_bytes || v->window_bytes - at < sizeof(v->frame)) {
		at = 0;
		v->window_bytes = 0;
		v->window_begin = from;
		if (bytes > FT_V8_WINDOW_BYTES)
			bytes = FT_V8_WINDOW_BYTES;
		if (bytes < sizeof(v->frame))
			bytes = sizeof(v->frame);
		FT_MASKED(bytes, 511);
		if (FT_READ_FRAME(env, v->window, bytes, from)) {
			bytes = sizeof(v->frame);
			if (FT_READ_FRAME(env, v->window, sizeof(v->frame), from))
				return -1;
		}
		v->window_bytes = bytes;
	}
	FT_MASKED(at, 511);
	for (int i = 0; i < V8_WORDS; i++)
		v->frame[i] = *(__u64 *)(v->window + (at & 504) + i * 8);
	return 0;
}

/*
 * Walks one step from V8's code, and sets what a stack body says of its frame. A stub that makes no
 * frame runs in that of its caller, which is then the frame in hand.
 */
static __always_inline int ft_v8_step(void *env, struct ft_walk *walk, struct v8_walk *v)
{
	__u64 pc = walk->ip - walk->returned;
	int leaf = V8_LEAF_WHOLE, builtin;
	__u32 position = 0;

	v->word = v->code = 0;
	v->here = walk->machine_here;
	walk->machine_here = FT_HERE_NOT;
	if (!walk->returned)
		leaf = ft_v8_leaf(env, walk, v);
	if (leaf != V8_LEAF_WHOLE)
		return ft_v8_part(env, walk, v, leaf);
	if ((walk->bp & 7) || walk->bp < walk->sp) {
		walk->stop = FT_STOP_RUNTIME;
		return FT_STEP_ENDED;
	}
	if (ft_v8_frame(env, v, walk->bp - FT_V8_BELOW)) {
		walk->stop = FT_STOP_PAGE;
		return FT_STEP_ENDED;
	}
	/* A frame that is being made has no words below the stack pointer. */
	if (ft_is_tagged(v->frame[V8_TYPE]) && walk->bp - walk->sp >= 16) {
		builtin = ft_is_builtin(v, pc);
		if (!builtin)
			position = (__u32)walk->ip;
		else if (!(__u32)v->frame[V8_BYTECODE])
			position = (__u32)(v->frame[V8_BYTECODE] >> 32) + 1;
		ft_set_script(env, v, v->frame[V8_FUNCTION], position);
		if (!builtin)
			ft_set_compiled(env, v, walk->returned ? 0 : FT_V8_LEAF);
	}
	return ft_machine_caller(walk, v->frame[V8_RETURN], walk->bp + 16, v->frame[V8_BP]);
}

#endif
