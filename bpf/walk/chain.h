/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The place of a walk among the frames that an interpreter keeps beside the native stack
 * (bpf/abi/runtime.h).
 */
#ifndef FIRETOWER_BPF_WALK_CHAIN_H
#define FIRETOWER_BPF_WALK_CHAIN_H

#include "bpf/abi/runtime.h"
#include "bpf/lib/scratch.h"

enum chain {
	CHAIN_UNSEEN = 0, /* no code of a runtime was met */
	CHAIN_BELOW = 1,  /* native frames, up to the one that has the record */
	CHAIN_DONE = 2,
	CHAIN_BROKEN = 3, /* a frame of it was not resident: the stack is cut */
	/* From here on the next turn is of the chain, not of a native frame. */
	CHAIN_TURN = 4,
	CHAIN_FRAMES = 4, /* each turn takes one of them, up to the entry record */
	CHAIN_BEGIN = 5,  /* code of a runtime was met: looks for the thread's frames */
	CHAIN_BEGIN_PHP =
		6, /* likewise: the code was of that one, in the order of enum ft_runtime */
	CHAIN_BEGIN_RUBY = 7,
	CHAIN_BEGIN_PERL = 8,
	CHAIN_SEARCH = 9, /* each turn goes on with the search for the thread's frames */
};

/* 1: `left`, the address of a frame as it is stored, is in the interpreter's loop. */
static __always_inline int is_loop(struct stack_scratch *scratch, __u64 left)
{
	return left - 1 - scratch->entry < scratch->loop_bytes ||
	       (!scratch->core_bytes && left - 1 - scratch->cold < scratch->cold_bytes);
}

/* 1: it is in what the loop calls for its runs, whose frame is not shown. */
static __always_inline int is_core(struct stack_scratch *scratch, __u64 left)
{
	return left - 1 - scratch->core < scratch->core_bytes ||
	       (scratch->core_bytes && left - 1 - scratch->cold < scratch->cold_bytes);
}

/*
 * 1: a frame is left out, whose caller is `caller`: it is of the core. In Perl the core is
 * docatch(), which an operation calls, or jumps to, for a loop of its own. The frames of that are
 * those of the loop that runs the operation, so all between the two is left out.
 */
static __always_inline int leaves_out(struct stack_scratch *scratch, __u64 left, __u64 caller)
{
	int core = is_core(scratch, left), out = core || scratch->behind_core;

	scratch->behind_core = 0;
	if (scratch->runtime != FT_RUNTIME_PERL)
		return out;
	scratch->behind_core = core && !is_loop(scratch, caller);
	return out || (is_loop(scratch, left) && is_core(scratch, caller));
}

/*
 * Looks at the frame that the last step has left, stored as `left`. 1: frames of the interpreter
 * are next, and the caller that the step found waits.
 */
static __always_inline int meets_chain(struct stack_scratch *scratch, int step, __u64 left)
{
	if (scratch->chain == CHAIN_UNSEEN) {
		if (step != FT_STEP_CALLER || scratch->walk.module.state != FT_MODULE_TABLE ||
		    !scratch->walk.module.runtime)
			return 0;
		scratch->chain = CHAIN_BEGIN;
		return 1;
	}
	if (scratch->chain != CHAIN_BELOW)
		return 0;
	if (step == FT_STEP_ENDED) {
		scratch->chain_ended = 1;
		scratch->chain = CHAIN_FRAMES;
		return 1;
	}
	if (step != FT_STEP_CALLER)
		return 0;
	if (!scratch->loop_bytes)
		return scratch->walk.sp > scratch->entry;
	if (!is_loop(scratch, left))
		return 0;
	scratch->chain = CHAIN_FRAMES;
	return 1;
}

#endif
