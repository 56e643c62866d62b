/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The walk of a whole user stack: native frames and those of interpreters, from the leaf on. */
#ifndef FIRETOWER_BPF_WALK_USER_STACKS_H
#define FIRETOWER_BPF_WALK_USER_STACKS_H

#include "bpf/walk/hotspot/frames.h"
#include "bpf/walk/perl/step.h"
#include "bpf/walk/php/compiled.h"
#include "bpf/walk/php/step.h"
#include "bpf/walk/probed_return.h"
#include "bpf/walk/python/begin.h"
#include "bpf/walk/ruby/compiled.h"
#include "bpf/walk/ruby/step.h"
#include "bpf/walk/user_walk.h"
#include "bpf/walk/v8/frames.h"

/* Sets a frame of code that PHP's compiler wrote to that of the loop, which is hidden as always. */
static __always_inline int php_compiled_step(struct stack_scratch *scratch)
{
	__u64 address = ft_php_loop_instead(&scratch->walk), *to;
	__u32 slot = next_slot(scratch);

	if (slot >= FT_MAX_FRAMES)
		return FT_STEP_ENDED;
	/* The frame in hand is the one before. */
	to = &scratch->address[slot];
	to[-1] = address;
	scratch->compiled_leaf = scratch->head.user_frames == 1;
	return FT_STEP_CALLER;
}

/* Steps over a frame that is on the native stack, but is of a runtime's code. */
static __always_inline int machine_step(struct stack_scratch *scratch)
{
	if (scratch->walk.machine_kind == FT_MACHINE_PHP)
		return php_compiled_step(scratch);
	if (scratch->walk.machine_kind == FT_MACHINE_RUBY)
		return ruby_compiled_step();
	return scratch->walk.machine_kind == FT_MACHINE_V8 ? v8_step() : hotspot_step();
}

/* A turn of an interpreter's frames. */
static __always_inline int chain_step(struct stack_scratch *scratch)
{
	switch (scratch->chain) {
	case CHAIN_BEGIN:
		return python_begin_step();
	case CHAIN_BEGIN_PHP:
		return php_begin_step();
	case CHAIN_BEGIN_RUBY:
		return ruby_begin_step();
	case CHAIN_BEGIN_PERL:
		return perl_begin_step();
	case CHAIN_SEARCH:
		return python_search_step();
	default:
		break;
	}
	switch (scratch->runtime) {
	case FT_RUNTIME_PHP:
		return php_step();
	case FT_RUNTIME_RUBY:
		return ruby_step();
	case FT_RUNTIME_PERL:
		return perl_step();
	default:
		return python_step();
	}
}

/*
 * One turn: a native frame or one of an interpreter's. Global for the same reason; the choice
 * inside the loop would cost the verifier ten times as much.
 */
__attribute__((noinline)) int any_step(void)
{
	struct stack_scratch *scratch;
	__u32 zero = 0;
	int step;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	if (!scratch)
		return FT_STEP_ENDED;
	if (scratch->chain >= CHAIN_TURN)
		return chain_step(scratch);
	if (ft_in_machine(&scratch->walk))
		return machine_step(scratch);
	step = unwind_step();
	if (step == FT_STEP_MACHINE)
		return machine_step(scratch);
	if (step != FT_STEP_CALLER && !scratch->walk.end && probed_return())
		return FT_STEP_CALLER;
	return step;
}

/* Walks one step by frame pointers alone, for a cold stack that may not be sent. */
__attribute__((noinline)) int frame_pointer_step(void)
{
	struct stack_scratch *scratch;
	__u32 zero = 0, slot;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	if (!scratch)
		return FT_STEP_ENDED;
	if (ft_in_machine(&scratch->walk))
		return machine_step(scratch);
	slot = next_slot(scratch);
	if (slot >= FT_MAX_FRAMES)
		return FT_STEP_ENDED;
	return keep_caller(scratch, slot, ft_step_frame_pointer(scratch, &scratch->walk));
}

/*
 * The loop over the frames is split in two. The verifier checks each turn of a loop separately;
 * the inner loop is a global function, which it checks once. With one loop of FT_MAX_USER_FRAMES
 * turns the counting alone would take nearly the whole instruction budget.
 */
#define FT_STRIDE 64

__attribute__((noinline)) int unwind_stride(void)
{
	int step = FT_STEP_ENDED;

	for (int i = 0; i < FT_STRIDE; i++) {
		step = any_step();
		if (step != FT_STEP_CALLER)
			break;
	}
	return step;
}

__attribute__((noinline)) int frame_pointer_stride(void)
{
	int step = FT_STEP_ENDED;

	for (int i = 0; i < FT_STRIDE; i++) {
		step = frame_pointer_step();
		if (step != FT_STEP_CALLER)
			break;
	}
	return step;
}

/* Begins a walk at the leaf's registers in scratch->walk. */
static __always_inline void begin_walk(struct stack_scratch *scratch)
{
	struct ft_walk *walk = &scratch->walk;
	__u32 slot = scratch->head.kernel_frames & 127;

	scratch->address[slot] = walk->ip;
	scratch->head.user_frames = 1;
	scratch->head.stack_hash = mix(scratch->head.stack_hash, walk->ip);
	scratch->window.bytes = 0;
	scratch->chain = CHAIN_UNSEEN;
	scratch->chain_ended = 0;
	scratch->loop_bytes = 0;
	scratch->cold_bytes = 0;
	scratch->core_bytes = 0;
	scratch->behind_core = 0;
	scratch->compiled_leaf = 0;
	scratch->runtime = 0;
	scratch->machine_loaded = 0;
	walk->begin = walk->end = 0;
	walk->module.runtime = 0;
	walk->returned = 0;
	walk->guessed = 0;
	walk->trampoline = 0;
	walk->machine = 0;
	walk->machine_kind = 0;
	walk->machine_here = 0;
	walk->mapped = 0;
	walk->machine_bytes = 0;
	walk->builtins_bytes = 0;
	walk->stop = FT_STOP_DEPTH;
}

/* Goes on with a walk to its end; returns enum ft_step of the last step. */
static __always_inline int walk_on(struct stack_scratch *scratch)
{
	int step = FT_STEP_COLD;

	if (find_process(scratch, scratch->head.tgid,
			 ft_identity(scratch->head.start_ns, scratch->head.exec_id)))
		return step;
	for (int i = 0; i < FT_MAX_USER_FRAMES / FT_STRIDE; i++) {
		step = unwind_stride();
		if (step != FT_STEP_CALLER)
			break;
	}
	return step;
}

/* Walks the rest of a cold stack by frame pointers, as far as they reach. */
static __always_inline void walk_frame_pointers(struct stack_scratch *scratch)
{
	scratch->chain = CHAIN_DONE;
	for (int i = 0; i < FT_MAX_USER_FRAMES / FT_STRIDE; i++) {
		if (frame_pointer_stride() != FT_STEP_CALLER)
			break;
	}
}

#endif
