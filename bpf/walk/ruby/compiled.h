/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Code that Ruby's compiler (YJIT) wrote has neither rows nor frame pointers. It was called from
 * rb_vm_exec(), which has called setjmp() before: the registers that it had there are in the
 * thread's newest tag, and the walk goes on with these. docs/adr/0040-ruby-in-the-walk.md
 */
#ifndef FIRETOWER_BPF_WALK_RUBY_COMPILED_H
#define FIRETOWER_BPF_WALK_RUBY_COMPILED_H

#include "bpf/walk/ruby/step.h"

/*
 * struct rb_vm_tag (vm_core.h): two words, a buffer, and the tag before it. Which setjmp() it is
 * for is the build's choice. GCC's has five words: frame pointer, address, stack pointer. That of
 * glibc (sysdeps/x86_64/setjmp.S) has 200 bytes: RBX, RBP, R12 to R15, RSP and RIP, of which RBP,
 * RSP and RIP are kept from plain sight by a word of the thread's at FS + 0x30.
 */
#define FT_RUBY_TAG_BYTES 80
#define FT_RUBY_TAGS 8
#define FT_JUMP_GUARD 0x30
#define FT_RUBY_NEAR (32ULL << 20)

/* The registers of whoever made a tag. */
struct ruby_tag {
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u64 previous;
};

static __always_inline __u64 plain_register(struct chain_scratch *chain, __u32 offset, __u64 guard)
{
	__u64 value = FT_CODE_WORD(chain, offset);

	return (value >> 17 | value << 47) ^ guard;
}

/* Reads a tag, of code near `code`. Returns 0, or -1. */
static __always_inline int read_tag(struct chain_scratch *chain, __u64 tag, __u64 code,
				    struct ruby_tag *to)
{
	__u64 guard;

	if (bpf_probe_read_user(chain->code_bytes, FT_RUBY_TAG_BYTES, (void *)tag))
		return -1;
	to->bp = FT_CODE_WORD(chain, 16);
	to->ip = FT_CODE_WORD(chain, 24);
	to->sp = FT_CODE_WORD(chain, 32);
	to->previous = FT_CODE_WORD(chain, 56);
	if (to->ip - code + FT_RUBY_NEAR < 2 * FT_RUBY_NEAR)
		return 0;
	to->previous = word_at(chain, tag + 216);
	guard = word_at(chain, chain->fs + FT_JUMP_GUARD);
	to->bp = plain_register(chain, 24, guard);
	to->sp = plain_register(chain, 64, guard);
	to->ip = plain_register(chain, 72, guard);
	return 0;
}

/* Finds the newest tag above the frame in hand. Returns its address; 0: none of the newest is. */
static __always_inline __u64 tag_above(struct stack_scratch *scratch, struct chain_scratch *chain,
				       struct ruby_tag *to)
{
	__u64 tag = chain->record;

	for (int i = 0; i < FT_RUBY_TAGS; i++) {
		if (!tag || read_tag(chain, tag, scratch->walk.builtins, to))
			return 0;
		if (tag > scratch->walk.sp)
			return tag;
		tag = to->previous;
	}
	return 0;
}

/* Loads the build and the thread's context, where the walk begins in compiled code. */
static __always_inline int meet_ruby(struct stack_scratch *scratch, struct chain_scratch *chain)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct ft_module *module = module_at(scratch->walk.machine_library);
	struct ft_slab slab = {};
	struct ft_ruby *build;

	if (!module)
		return -1;
	build = ft_at(NULL, &slab, module->runtime, sizeof(struct ft_ruby));
	if (!build || build->runtime_kind != FT_RUNTIME_RUBY)
		return -1;
	chain->ruby = *build;
	chain->fs = BPF_CORE_READ(task, thread.fsbase);
	scratch->runtime = FT_RUNTIME_RUBY;
	return find_context(chain, scratch->walk.builtins - chain->ruby.loop);
}

/* The walk ends in compiled code; what is left of the thread's frames goes behind it. */
static __always_inline int end_compiled(struct stack_scratch *scratch)
{
	scratch->walk.stop = FT_STOP_RUNTIME;
	if (scratch->chain != CHAIN_BELOW)
		return FT_STEP_ENDED;
	scratch->chain_ended = 1;
	scratch->chain = CHAIN_FRAMES;
	return FT_STEP_CALLER;
}

/* Sets the frame in hand to rb_vm_exec()'s, which is hidden as always. */
__attribute__((noinline)) int ruby_compiled_step(void)
{
	struct stack_scratch *scratch;
	struct chain_scratch *chain;
	struct ruby_tag tag = {};
	__u64 at, *to;
	__u32 zero = 0, slot;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	chain = bpf_map_lookup_elem(&ft_chain, &zero);
	if (!scratch || !chain)
		return FT_STEP_ENDED;
	slot = next_slot(scratch);
	if (slot >= FT_MAX_FRAMES || (scratch->chain == CHAIN_UNSEEN && meet_ruby(scratch, chain)))
		return end_compiled(scratch);
	at = scratch->runtime == FT_RUNTIME_RUBY ? tag_above(scratch, chain, &tag) : 0;
	/* The tag is a variable of the function that made it. */
	if (!at || tag.ip - scratch->walk.builtins >= chain->ruby.loop_bytes ||
	    tag.sp <= scratch->walk.sp || tag.sp > at)
		return end_compiled(scratch);
	scratch->walk.ip = tag.ip;
	scratch->walk.sp = tag.sp;
	scratch->walk.bp = tag.bp;
	/* The place that setjmp() comes back to need not be behind a call. */
	scratch->walk.returned = 0;
	scratch->walk.guessed = 0;
	/* The frame in hand is the one before. */
	to = &scratch->address[slot];
	to[-1] = tag.ip + 1;
	return FT_STEP_CALLER;
}

#endif
