/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Perl's contexts (cop.h): where they are, and what of them C has entered by a loop of its own. */
#ifndef FIRETOWER_BPF_WALK_PERL_CONTEXTS_H
#define FIRETOWER_BPF_WALK_PERL_CONTEXTS_H

#include "bpf/walk/perl/function.h"

/* struct context: type, flags, the statement that was current, where a call returns to, … */
#define FT_PERL_CONTEXT_BYTES 104
#define FT_PERL_OLD_STATEMENT 16
#define FT_PERL_RETURN 48
#define FT_PERL_FILE_NAME 64 /* of an eval: the file that is read */
#define FT_PERL_CODE 72
#define FT_PERL_OLD_DEPTH 80

enum ft_perl_context {
	FT_PERL_SORT_BLOCK = 0, /* CXt_NULL */
	FT_PERL_CALL = 9,
	FT_PERL_WRITE = 10,
	FT_PERL_EVALS = 11,
	FT_PERL_DEFER = 13, /* from 5.36 on */
};

#define FT_PERL_SHOWN                                                          \
	(1u << FT_PERL_SORT_BLOCK | 1u << FT_PERL_CALL | 1u << FT_PERL_WRITE | \
	 1u << FT_PERL_EVALS | 1u << FT_PERL_DEFER)

#define FT_PERL_MULTICALL 0x10  /* code that C runs several times */
#define FT_PERL_EVAL_BLOCK 0x40 /* part of the subroutine around it */
#define FT_PERL_IN_REGEX 0x40
#define FT_PERL_REGEX_BLOCK 0x80 /* code in a regular expression, part of the subroutine around */

/* struct stackinfo: contexts, the stack that waits, the newest context's number, type */
#define FT_PERL_STACK_BYTES 48
#define FT_PERL_MAX_CONTEXTS (1 << 24)
#define FT_PERL_STACK_OF_SORT 3

/* Goes on with the contexts of the stack at `stack`. Returns 0, or -1 if it is none. */
static __always_inline int open_perl_stack(struct chain_scratch *chain, __u64 stack)
{
	__u32 contexts;

	if (!stack || bpf_probe_read_user(chain->code_bytes, FT_PERL_STACK_BYTES, (void *)stack))
		return -1;
	chain->state = FT_CODE_WORD(chain, 8);
	chain->interpreter = FT_CODE_WORD(chain, 16);
	/* The newest one's number, -1 where there is none. */
	contexts = *(__u32 *)(chain->code_bytes + 32) + 1;
	chain->code_type = *(__u32 *)(chain->code_bytes + 44);
	if (!chain->state || contexts > FT_PERL_MAX_CONTEXTS)
		return -1;
	chain->frame =
		chain->state + (__u64)contexts * FT_PERL_CONTEXT_BYTES - FT_PERL_CONTEXT_BYTES;
	return 0;
}

/*
 * 1: no loop runs the context in hand, the newest one: C has entered its code and will again, as
 * sort() does, or is about to.
 */
static __always_inline int is_perl_without_loop(struct stack_scratch *scratch,
						struct chain_scratch *chain, __u8 flags)
{
	__u64 operation = chain->fs, stack;

	/* No operation runs between two calls. */
	if (!operation)
		return flags & FT_PERL_MULTICALL || chain->code_type == FT_PERL_STACK_OF_SORT;
	/* It began at the statement that still is the current one. */
	if (FT_FRAME_WORD(chain, FT_PERL_OLD_STATEMENT) != chain->record)
		return 0;
	if (flags & FT_PERL_MULTICALL && flags & (FT_PERL_IN_REGEX | FT_PERL_REGEX_BLOCK))
		return 1;
	/* An operation on the C stack is call_sv()'s own, that enters a subroutine. */
	stack = leaf_stack(scratch, chain);
	return stack && operation >= stack && operation < scratch->walk.sp;
}

/* 1: a context is of a block that C enters by a loop of its own. */
static __always_inline int is_entered_block(struct chain_scratch *chain, __u8 kind)
{
	if ((kind & 15) == FT_PERL_SORT_BLOCK)
		return chain->code_type == FT_PERL_STACK_OF_SORT;
	return (kind & 15) == FT_PERL_DEFER ||
	       ((kind & 15) == FT_PERL_CALL && kind & FT_PERL_REGEX_BLOCK);
}

/* 1: C has entered the code of the context in hand, by a loop of its own. */
static __always_inline int is_perl_entered(struct chain_scratch *chain, __u8 kind)
{
	if (is_entered_block(chain, kind))
		return 1;
	if (FT_FRAME_WORD(chain, FT_PERL_RETURN) || (kind & 15) == FT_PERL_SORT_BLOCK)
		return 0;
	/* The last call of such a block does not return to an operation either. */
	return chain->frame < chain->state ||
	       !is_entered_block(chain, (__u8)word_at(chain, chain->frame));
}

/* Finds the contexts of the interpreter `perl`, struct interpreter. Returns 0, or -1. */
static __always_inline int open_perl(struct chain_scratch *chain, __u64 perl)
{
	if (!perl)
		return -1;
	chain->fs = word_at(chain, perl + 8); /* PL_op */
	chain->record = word_at(chain, perl + chain->perl.statement);
	return open_perl_stack(chain, word_at(chain, perl + chain->perl.stack));
}

#endif
