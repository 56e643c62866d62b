/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * One step over a frame of HotSpot's: from a program counter in its code cache to the caller.
 * x86-64; what a frame looks like is in HotSpot's own sources (frame_x86.hpp).
 *
 * The including file defines, besides FT_REGISTER of bpf/walk/unwind.h and FT_READ_FAR of
 * bpf/walk/hotspot/blob.h:
 *   FT_READ_FRAME(env, to, size, address)  0, or an error if any byte of the stack is not resident
 */
#ifndef FIRETOWER_BPF_WALK_HOTSPOT_STEP_H
#define FIRETOWER_BPF_WALK_HOTSPOT_STEP_H

#include "bpf/walk/hotspot/leaf.h"

/* DWARF numbers of the registers that the interpreter keeps for itself. */
#define FT_REG_RBX 3
#define FT_REG_R13 13

/* Words from the stack pointer on in which a stub's return address is looked for. */
#define FT_STUB_WORDS 6
/* An interpreted frame's own words, from the bytecode's slot to the return address. */
#define FT_INTERPRETED_BELOW 72
/* The most that an interpreted frame's expressions and locks take. */
#define FT_INTERPRETED_MOST 0x8000

/* The most bytecodes of a method (code_length of the class file's Code attribute). */
#define FT_METHOD_BYTES 0x10000

/* Finds the caller by the words {caller's RBP, return address} that end at `cfa`. */
static __always_inline int ft_java_record(void *env, struct ft_walk *walk, struct hotspot_walk *h,
					  __u64 cfa)
{
	if (FT_READ_FRAME(env, h->frame, 16, cfa - 16)) {
		walk->stop = FT_STOP_PAGE;
		return FT_STEP_ENDED;
	}
	return ft_machine_caller(walk, h->frame[1], cfa, h->frame[0]);
}

/* Finds the caller by a return address in the word at `at`, with the frame's RBP for the caller's.
 */
static __always_inline int ft_java_return(void *env, struct ft_walk *walk, struct hotspot_walk *h,
					  __u64 at)
{
	if (FT_READ_FRAME(env, &h->address, 8, at)) {
		walk->stop = FT_STOP_PAGE;
		return FT_STEP_ENDED;
	}
	return ft_machine_caller(walk, h->address, at + 8, walk->bp);
}

/* Steps over a compiled method, or the wrapper of a native one. */
static __always_inline int ft_step_compiled(void *env, struct ft_walk *walk, struct hotspot_walk *h)
{
	__u64 cfa = walk->sp + (__u64)FT_HEAD_U32(h, h->vm.frame_size) * 8;
	__u64 position = walk->ip - h->code;
	int state = LEAF_WHOLE;

	if (walk->returned) {
		/* Its return address was replaced; the frame has the true one. */
		if (walk->ip == ft_field_of(h, h->vm.deopt) &&
		    !FT_READ_FRAME(env, &h->address, 8, walk->sp + FT_HEAD_U32(h, h->vm.orig_pc)))
			position = h->address - h->code;
	} else if (!FT_READ_FAR(env, h->bytes, FT_CODE_BYTES, walk->ip - FT_CODE_BEFORE)) {
		state = ft_leaf_state(h, walk->ip);
	}
	h->word = FT_WORD_COMPILED | h->blob;
	h->where = (__u64)FT_HEAD_U32(h, h->vm.compile_id) << 32 | (__u32)position;
	/* The JVM's own method handles jump on without a frame. */
	if (state == LEAF_RETURN || cfa == walk->sp)
		return ft_java_return(env, walk, h, walk->sp);
	if (state == LEAF_PUSHED)
		return ft_java_record(env, walk, h, walk->sp + 16);
	if (state == LEAF_NO_BP)
		return ft_java_return(env, walk, h, cfa - 8);
	return ft_java_record(env, walk, h, cfa);
}

/*
 * Sets the frame in hand to an interpreted one, at the first of two addresses that is of its code.
 * Returns 0, or -1 if that is no method.
 */
static __always_inline int ft_set_interpreted(void *env, struct hotspot_walk *h, __u64 method,
					      __u64 bytecode, __u64 or_else)
{
	__u64 bytecodes;

	if (!ft_is_user_address(method) || (method & 7) ||
	    FT_READ_FAR(env, &h->address, 8, method + h->vm.method_const) ||
	    !ft_is_user_address(h->address) || (h->address & 7))
		return -1;
	bytecodes = h->address + h->vm.const_bytes;
	h->word = FT_WORD_INTERPRETED | method;
	if (bytecode - bytecodes < FT_METHOD_BYTES)
		h->where = bytecode;
	else if (or_else - bytecodes < FT_METHOD_BYTES)
		h->where = or_else;
	else
		h->where = FT_HOTSPOT_COOKIE(h->address);
	return 0;
}

/*
 * The same of a frame that made a call, whose slots are all written: nothing needs to be read for
 * it, as user space sees by the bytecode whether it is of that method.
 */
static __always_inline int ft_set_calling(void *env, struct hotspot_walk *h, __u64 method,
					  __u64 bytecode)
{
	if (!ft_is_user_address(bytecode))
		return ft_set_interpreted(env, h, method, 0, 0);
	if (!ft_is_user_address(method) || (method & 7))
		return -1;
	h->word = FT_WORD_INTERPRETED | method;
	h->where = bytecode;
	return 0;
}

/*
 * Steps over an interpreted frame: {return address, RBP, the caller's stack pointer, last SP,
 * Method} and more lie from RBP + 8 down. A method that has just been entered has RBX for its
 * Method and R13 for its caller's stack pointer.
 */
static __always_inline int ft_step_interpreted(void *env, struct ft_walk *walk,
					       struct hotspot_walk *h)
{
	__u64 below = walk->bp - walk->sp, method = 0, sender = 0, bytecode;

	h->blob = h->vm.interpreter;
	if (!(walk->bp & 7) && below <= FT_INTERPRETED_MOST &&
	    !FT_READ_FRAME(env, h->frame, FT_INTERPRETED_BELOW + 16,
			   walk->bp - FT_INTERPRETED_BELOW)) {
		/* frame[9] is at RBP. Between calls the bytecode's address is in R13. */
		bytecode = h->vm.bytecode_slot == -56 ? h->frame[2] : h->frame[1];
		if (FT_REGISTER(env, FT_REG_R13, &sender))
			sender = bytecode;
		if (below >= FT_INTERPRETED_BELOW - 8 &&
		    !(walk->returned ? ft_set_calling(env, h, h->frame[6], bytecode) :
				       ft_set_interpreted(env, h, h->frame[6], sender, bytecode)))
			return ft_machine_caller(walk, h->frame[10], h->frame[8], h->frame[9]);
	}
	if (walk->returned || FT_REGISTER(env, FT_REG_RBX, &method) ||
	    FT_REGISTER(env, FT_REG_R13, &sender) || ft_set_interpreted(env, h, method, 0, 0)) {
		walk->stop = FT_STOP_RUNTIME;
		return FT_STEP_ENDED;
	}
	if (below < FT_INTERPRETED_BELOW - 8)
		return ft_java_record(env, walk, h, walk->bp + 16);
	return ft_java_return(env, walk, h, walk->sp);
}

/* 1: a word may be where some code of the code cache goes on. */
static __always_inline int ft_is_java_return(struct hotspot_walk *h, __u64 word)
{
	return ft_in_code_cache(h, word - 1);
}

/*
 * 1: the code at a return address is what frames of a virtual thread return to whose caller is
 * still in the heap: it begins with mov rsp, [r15 + entry], and no call lies before that elsewhere.
 */
static __always_inline int ft_is_barrier(void *env, struct ft_walk *walk, struct hotspot_walk *h)
{
	return walk->returned && h->vm.enter &&
	       !FT_READ_FAR(env, h->bytes, FT_CODE_BYTES, walk->ip - FT_CODE_BEFORE) &&
	       (FT_CODE_IS(h->bytes, 0, 3, 0xa78b49) || FT_CODE_IS(h->bytes, 0, 3, 0x678b49));
}

/* Goes on below the frames that are in the heap, which are not executing: where the thread was
 * entered. */
static __always_inline int ft_step_barrier(void *env, struct ft_walk *walk, struct hotspot_walk *h)
{
	if (FT_READ_FAR(env, &h->address, 8, h->vm.enter) || !ft_in_code_cache(h, h->address)) {
		walk->stop = FT_STOP_RUNTIME;
		return FT_STEP_ENDED;
	}
	walk->ip = h->address;
	return FT_STEP_CALLER;
}

/* Steps over other code of the cache: what the JVM made for itself. */
static __always_inline int ft_step_stub(void *env, struct ft_walk *walk, struct hotspot_walk *h)
{
	__u64 size = (__u64)FT_HEAD_U32(h, h->vm.frame_size) * 8;

	h->word = FT_WORD_STUB | h->blob;
	h->where = (__u32)walk->ip;
	if (walk->ip == h->vm.call_return)
		return ft_java_record(env, walk, h, walk->bp + 16);
	if (ft_is_barrier(env, walk, h))
		return ft_step_barrier(env, walk, h);
	if (walk->returned && size)
		return ft_java_record(env, walk, h, walk->sp + size);
	if (FT_READ_FRAME(env, h->frame, FT_STUB_WORDS * 8, walk->sp)) {
		walk->stop = FT_STOP_PAGE;
		return FT_STEP_ENDED;
	}
	for (int i = 0; i < FT_STUB_WORDS; i++) {
		if (!ft_is_java_return(h, h->frame[i]))
			continue;
		return ft_machine_caller(walk, h->frame[i], walk->sp + i * 8 + 8,
					 i && walk->bp == walk->sp + i * 8 - 8 ? h->frame[i - 1] :
										 walk->bp);
	}
	if (walk->bp >= walk->sp && walk->bp - walk->sp <= FT_INTERPRETED_MOST && !(walk->bp & 7))
		return ft_java_record(env, walk, h, walk->bp + 16);
	walk->stop = FT_STOP_RUNTIME;
	return FT_STEP_ENDED;
}

/*
 * Walks one step from code of the code cache, and sets what a stack body says of its frame, which
 * is FT_WORD_STUB without a blob where it is of no code that could be read.
 */
static __always_inline int ft_hotspot_step(void *env, struct ft_walk *walk, struct hotspot_walk *h)
{
	__u64 pc = walk->ip - walk->returned;

	h->word = FT_WORD_STUB;
	h->where = (__u32)walk->ip;
	if (pc - h->vm.interpreter < h->vm.interpreter_bytes)
		return ft_step_interpreted(env, walk, h);
	if (ft_find_heap(h, pc) || ft_read_block(env, h, pc)) {
		walk->stop = FT_STOP_RUNTIME;
		return FT_STEP_ENDED;
	}
	if (ft_is_nmethod(h))
		return ft_step_compiled(env, walk, h);
	return ft_step_stub(env, walk, h);
}

#endif
