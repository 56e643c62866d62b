/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Ruby's frames. rb_vm_exec() runs a chain of them up to one that was entered from C, so each of
 * its native frames has the frames of the chain down to that one:
 * docs/adr/0040-ruby-in-the-walk.md. Control frames lie behind one another, the caller's behind
 * (struct rb_control_frame_struct, vm_core.h); struct rb_execution_context_struct begins alike in
 * all versions.
 */
#ifndef FIRETOWER_BPF_WALK_RUBY_STEP_H
#define FIRETOWER_BPF_WALK_RUBY_STEP_H

#include <bpf/bpf_core_read.h>

#include "bpf/lib/kernel_types.h"
#include "bpf/walk/ruby/function.h"

/* Flags of an environment (vm_core.h): entered from C, and of a function of C. */
#define FT_RUBY_FINISH 0x20
#define FT_RUBY_CFRAME 0x80
#define FT_RUBY_MAGIC 0x7fff0000
#define FT_RUBY_DUMMY 0x79990000

#define FT_RUBY_CONTEXT_BYTES 32

/*
 * Reads the context at `context`: {stack, words of it, newest frame, newest tag}. Returns 0, or -1
 * if it is none.
 */
static __always_inline int read_context(struct chain_scratch *chain, __u64 context)
{
	__u64 end;

	if (!context ||
	    bpf_probe_read_user(chain->code_bytes, FT_RUBY_CONTEXT_BYTES, (void *)context))
		return -1;
	if (FT_CODE_WORD(chain, 8) < 1000 || FT_CODE_WORD(chain, 8) > 1 << 24)
		return -1;
	chain->frame = FT_CODE_WORD(chain, 16);
	end = FT_CODE_WORD(chain, 0) + FT_CODE_WORD(chain, 8) * 8;
	if (chain->frame <= FT_CODE_WORD(chain, 0) || chain->frame >= end || chain->frame & 7)
		return -1;
	/* The frame at the bottom is of no method (VM_FRAME_MAGIC_DUMMY). */
	chain->state = end - chain->ruby.frame_bytes;
	chain->record = FT_CODE_WORD(chain, 24);
	return 0;
}

/* Finds the thread's context, of a library at `bias`. Returns 0, or -1 if it has none. */
static __always_inline int find_context(struct chain_scratch *chain, __u64 bias)
{
	__u64 vector, module;

	if (chain->ruby.global)
		return read_context(chain, word_at(chain, bias + chain->ruby.global));
	/* glibc, x86-64: the thread's vector of modules' variables is at FS + 8, in pairs of words.
	 */
	vector = word_at(chain, chain->fs + 8);
	for (__u32 i = 0; i < FT_RUBY_SLOTS; i++) {
		if (i >= chain->ruby.slots)
			return -1;
		module = word_at(chain, bias + chain->ruby.slot[i]);
		module = module ? word_at(chain, vector + module * 16) : 0;
		if (module && !read_context(chain, word_at(chain, module + chain->ruby.offset[i])))
			return 0;
	}
	return -1;
}

/*
 * Before 3.0 the context is that of whoever has the interpreter's lock. 1: it is another thread's:
 * its newest tag does not lie in this stack, between the leaf and the loop that has it.
 */
static __always_inline int is_anothers(struct stack_scratch *scratch, struct chain_scratch *chain)
{
	__u64 stack;

	if (!chain->ruby.global || chain->taken)
		return 0;
	stack = leaf_stack(scratch, chain);
	return scratch->chain_ended || !stack || chain->record < stack ||
	       chain->record >= scratch->walk.sp;
}

/* Stores the frame in hand. Returns 0, or -1 if there is no room. */
static __always_inline int keep_ruby_frame(struct stack_scratch *scratch,
					   struct chain_scratch *chain)
{
	__u64 position = FT_FRAME_WORD(chain, 0);
	__u32 cookie = 0;

	if (!read_ruby_body(chain, FT_FRAME_WORD(chain, 16))) {
		cookie = ruby_cookie(chain);
		send_ruby_function(scratch, chain, cookie);
		/* The instruction that is next; what runs is the one before. */
		position = (position - FT_CODE_WORD(chain, FT_RUBY_CODE)) / 8;
		position -= position > 0;
	}
	if (keep_word(scratch, FT_WORD_RUBY_FRAME | (chain->code & ~FT_WORD_KIND)))
		return -1;
	return keep_word(scratch, (__u64)cookie << 32 | (__u32)position);
}

/* Takes the next frame. 1: the loop's frames are through; scratch->chain says what is next. */
static __always_inline int next_ruby_frame(struct stack_scratch *scratch,
					   struct chain_scratch *chain, int *full)
{
	__u64 flags;

	if (chain->frame >= chain->state || is_anothers(scratch, chain)) {
		if (!scratch->chain_ended)
			*full = keep_word(scratch, FT_WORD_JOIN);
		scratch->chain = CHAIN_DONE;
		return 1;
	}
	chain->taken = 1;
	if (read_frame_ahead(chain, chain->frame, chain->ruby.frame_bytes)) {
		scratch->chain = CHAIN_BROKEN;
		return 1;
	}
	chain->frame += chain->ruby.frame_bytes;
	flags = word_at(chain, FT_FRAME_WORD(chain, 32));
	/* Functions of C are the native frames above. */
	if (!FT_FRAME_WORD(chain, 16) || flags & FT_RUBY_CFRAME)
		return 0;
	*full = keep_ruby_frame(scratch, chain);
	/* Such a frame stands for a file that is read, without a loop. */
	if (scratch->chain_ended || !(flags & FT_RUBY_FINISH) ||
	    (flags & FT_RUBY_MAGIC) == FT_RUBY_DUMMY)
		return 0;
	*full = *full || keep_word(scratch, FT_WORD_JOIN);
	scratch->chain = CHAIN_BELOW;
	return 1;
}

__attribute__((noinline)) int ruby_step(void)
{
	struct chain_scratch *chain;
	struct stack_scratch *scratch;
	__u32 zero = 0;
	int full = 0, through;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	chain = bpf_map_lookup_elem(&ft_chain, &zero);
	if (!scratch || !chain)
		return FT_STEP_ENDED;
	through = next_ruby_frame(scratch, chain, &full);
	return end_turn(scratch, through, full);
}

/* The walk came to code of Ruby's: finds the thread's frames. */
__attribute__((noinline)) int ruby_begin_step(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct chain_scratch *chain;
	struct stack_scratch *scratch;
	struct ft_slab slab = {};
	struct ft_ruby *build;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	chain = bpf_map_lookup_elem(&ft_chain, &zero);
	if (!scratch || !chain)
		return FT_STEP_ENDED;
	build = ft_at(NULL, &slab, scratch->walk.module.runtime, sizeof(struct ft_ruby));
	if (!build)
		return enter_chain(scratch, 0);
	chain->ruby = *build;
	chain->window_bytes = 0;
	chain->taken = 0;
	chain->fs = BPF_CORE_READ(task, thread.fsbase);
	scratch->runtime = FT_RUNTIME_RUBY;
	scratch->entry = scratch->walk.bias + chain->ruby.loop;
	scratch->loop_bytes = chain->ruby.loop_bytes;
	scratch->core = scratch->walk.bias + chain->ruby.core;
	scratch->core_bytes = chain->ruby.core_bytes;
	scratch->cold = scratch->walk.bias + chain->ruby.cold;
	scratch->cold_bytes = chain->ruby.cold_bytes;
	if (find_context(chain, scratch->walk.bias))
		return enter_chain(scratch, 0);
	return leave_core(scratch) ? FT_STEP_CALLER : enter_chain(scratch, 1);
}

#endif
