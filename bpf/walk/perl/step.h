/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Perl's frames, which are contexts. Perl_runops_standard() runs them down to one that was entered
 * from C, so each of its native frames has the contexts down to that one:
 * docs/adr/0041-perl-in-the-walk.md.
 */
#ifndef FIRETOWER_BPF_WALK_PERL_STEP_H
#define FIRETOWER_BPF_WALK_PERL_STEP_H

#include <bpf/bpf_core_read.h>

#include "bpf/lib/kernel_types.h"
#include "bpf/walk/perl/contexts.h"

/*
 * Stores a frame. `state`: what read_perl_code() returned, where it is of a subroutine or a format.
 * Returns 0, or -1 if there is no room.
 */
static __always_inline int keep_perl_frame(struct stack_scratch *scratch,
					   struct chain_scratch *chain, int state, __u32 kind)
{
	__u32 cookie = 0, line;

	if (kind >= FT_PERL_EVAL) {
		cookie = read_perl_file(chain, kind);
		send_perl_file(scratch, chain, cookie, kind);
	} else if (!state) {
		chain->code = FT_CODE_WORD(chain, FT_PERL_START);
		cookie = perl_cookie(chain);
		send_perl_code(scratch, chain, cookie, kind);
	} else {
		chain->code = 0;
	}
	chain->taken = 1;
	line = (__u32)word_at(chain, chain->record + FT_PERL_STATEMENT_LINE);
	if (keep_word(scratch, FT_WORD_PERL_FRAME | (chain->code & ~FT_WORD_KIND)))
		return -1;
	return keep_word(scratch, (__u64)cookie << 32 | line);
}

/*
 * Takes the call, of a subroutine or a format, in hand. Returns 0; -1 if there is no room; 1 if it
 * is only being entered, and not as deep yet as the context says.
 */
static __always_inline int take_perl_call(struct stack_scratch *scratch,
					  struct chain_scratch *chain, __u8 type)
{
	int state = read_perl_code(chain, FT_FRAME_WORD(chain, FT_PERL_CODE),
				   type == FT_PERL_CALL ? FT_PERL_CODE_TYPE : FT_PERL_FORMAT_TYPE);

	if (state > 0)
		return 1;
	if (!state && type == FT_PERL_CALL &&
	    *(__s32 *)(chain->code_bytes + FT_PERL_DEPTH) <=
		    *(__s32 *)FT_FRAME_BYTE(chain, FT_PERL_OLD_DEPTH))
		return 1;
	return keep_perl_frame(scratch, chain, state,
			       type == FT_PERL_CALL ? FT_PERL_SUB : FT_PERL_FORMAT);
}

/*
 * Takes the frame of the context in hand, if it has one. Returns 0, -1 if there is no room, or 1 if
 * nothing ran in it yet.
 */
static __always_inline int take_perl_context(struct stack_scratch *scratch,
					     struct chain_scratch *chain, __u8 kind)
{
	if ((kind & 15) == FT_PERL_EVALS)
		return keep_perl_frame(scratch, chain, 0,
				       FT_FRAME_WORD(chain, FT_PERL_FILE_NAME) ? FT_PERL_REQUIRE :
										 FT_PERL_EVAL);
	if ((kind & 15) == FT_PERL_WRITE ||
	    ((kind & 15) == FT_PERL_CALL && !(kind & FT_PERL_REGEX_BLOCK)))
		return take_perl_call(scratch, chain, kind & 15);
	return 0;
}

/* The loop in hand has run the frames down to here. */
static __always_inline int end_perl_run(struct stack_scratch *scratch, struct chain_scratch *chain)
{
	int full = 0;

	scratch->chain = CHAIN_BELOW;
	if (chain->taken)
		full = keep_word(scratch, FT_WORD_JOIN);
	else if (scratch->head.user_frames)
		scratch->head.user_frames--; /* what it ran is part of a subroutine below */
	chain->taken = 0;
	return full;
}

/* A stack of contexts is through. Returns as next_perl_frame() does. */
static __always_inline int end_perl_stack(struct stack_scratch *scratch,
					  struct chain_scratch *chain, int *full)
{
	if (chain->record && chain->interpreter) {
		if (!open_perl_stack(chain, chain->interpreter))
			return 0;
		scratch->chain = CHAIN_BROKEN;
		return 1;
	}
	if (scratch->chain_ended) {
		scratch->chain = CHAIN_DONE;
		return 1;
	}
	/* The script's own code has no context. */
	if (chain->record &&
	    scratch->walk.ip - scratch->walk.bias - chain->perl.run < chain->perl.run_bytes) {
		*full = keep_perl_frame(scratch, chain, 0, FT_PERL_MAIN) ||
			end_perl_run(scratch, chain);
		chain->record = 0;
		return 1;
	}
	/* The loop in hand has just left its last frame. What it seems to run is a later one's. */
	if (chain->taken) {
		scratch->chain = CHAIN_BELOW;
		return 1;
	}
	*full = keep_word(scratch, FT_WORD_JOIN);
	scratch->chain = CHAIN_DONE;
	return 1;
}

/*
 * Takes the next context. 1: it is the last one that the loop in hand runs, or there is none;
 * scratch->chain says what is next.
 */
static __always_inline int next_perl_frame(struct stack_scratch *scratch,
					   struct chain_scratch *chain, int *full)
{
	__u8 kind, first = !chain->strides;
	int took, entered;

	if (!chain->record || chain->frame < chain->state)
		return end_perl_stack(scratch, chain, full);
	if (read_frame(chain, chain->frame, FT_PERL_CONTEXT_BYTES, 1)) {
		scratch->chain = CHAIN_BROKEN;
		return 1;
	}
	chain->strides = 1;
	chain->frame -= FT_PERL_CONTEXT_BYTES;
	kind = *FT_FRAME_BYTE(chain, 0);
	/* The others are blocks and loops, which are not shown. */
	if (!(FT_PERL_SHOWN >> (kind & 15) & 1) ||
	    ((kind & 15) == FT_PERL_EVALS && kind & FT_PERL_EVAL_BLOCK))
		return 0;
	entered = !scratch->chain_ended && is_perl_entered(chain, kind);
	if (!first || !entered || !is_perl_without_loop(scratch, chain, kind)) {
		took = take_perl_context(scratch, chain, kind);
		if (took > 0)
			return 0;
		*full = took;
	} else {
		entered = 0;
	}
	chain->record = FT_FRAME_WORD(chain, FT_PERL_OLD_STATEMENT);
	if (!entered)
		return 0;
	*full = *full || end_perl_run(scratch, chain);
	return 1;
}

__attribute__((noinline)) int perl_step(void)
{
	struct chain_scratch *chain;
	struct stack_scratch *scratch;
	__u32 zero = 0;
	int full = 0, through;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	chain = bpf_map_lookup_elem(&ft_chain, &zero);
	if (!scratch || !chain)
		return FT_STEP_ENDED;
	through = next_perl_frame(scratch, chain, &full);
	return end_turn(scratch, through, full);
}

/* The walk came to code of Perl's: finds the thread's contexts. */
__attribute__((noinline)) int perl_begin_step(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct chain_scratch *chain;
	struct stack_scratch *scratch;
	struct ft_slab slab = {};
	struct ft_perl *build;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	chain = bpf_map_lookup_elem(&ft_chain, &zero);
	if (!scratch || !chain)
		return FT_STEP_ENDED;
	build = ft_at(NULL, &slab, scratch->walk.module.runtime, sizeof(struct ft_perl));
	if (!build)
		return enter_chain(scratch, 0);
	chain->perl = *build;
	chain->window_bytes = 0;
	chain->taken = 0;
	chain->strides = 0;
	chain->fs = BPF_CORE_READ(task, thread.fsbase);
	scratch->runtime = FT_RUNTIME_PERL;
	scratch->entry = scratch->walk.bias + chain->perl.loop;
	scratch->loop_bytes = chain->perl.loop_bytes;
	scratch->core = scratch->walk.bias + chain->perl.core;
	scratch->core_bytes = chain->perl.core_bytes;
	if (open_perl(chain, thread_value(chain, (__u32)word_at(chain, scratch->walk.bias +
									       chain->perl.key))))
		return enter_chain(scratch, 0);
	return leave_core(scratch) ? FT_STEP_CALLER : enter_chain(scratch, 1);
}

#endif
