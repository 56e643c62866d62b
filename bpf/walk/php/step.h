/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * PHP's frames. execute_ex() runs a chain of them up to one that was entered from C, so each of its
 * native frames has the frames of the chain down to that one:
 * docs/adr/0039-php-in-the-walk.md. Offsets are those of struct _zend_execute_data
 * (Zend/zend_compile.h), which all of 7.4 to 8.5 share.
 */
#ifndef FIRETOWER_BPF_WALK_PHP_STEP_H
#define FIRETOWER_BPF_WALK_PHP_STEP_H

#include "bpf/walk/php/function.h"

/* execute_ex() has the opcode that it runs in R15, which what it calls keeps. */
#define FT_PHP_OPCODE_REGISTER 15

/*
 * Returns the opcode that the frame in hand is at. What it has saved is older where the opcode's
 * handler cannot fail, so the newest frame's is the register's, unless a callee uses that.
 */
static __always_inline __u64 opcode_of(struct stack_scratch *scratch, struct chain_scratch *chain)
{
	__u64 saved = FT_FRAME_WORD(chain, 0);

	__u64 at;

	if (chain->taken || !scratch->registers)
		return saved;
	if (bpf_probe_read_kernel(
		    &chain->word, 8,
		    (void *)(scratch->registers + FT_REGISTER_SLOT(FT_PHP_OPCODE_REGISTER) * 8)))
		return saved;
	at = chain->word - FT_CODE_WORD(chain, chain->php.opcodes);
	return at < opcode_bytes(chain) && at % FT_PHP_OPCODE_BYTES == 0 ? chain->word : saved;
}

/* Returns the line of the frame in hand, or 0 where it has none. */
static __always_inline __u32 line_of(struct stack_scratch *scratch, struct chain_scratch *chain)
{
	__u64 opcode;

	/* Compiled code keeps no opcode. */
	if (!chain->taken && scratch->compiled_leaf)
		return 0;
	opcode = opcode_of(scratch, chain);
	/* It is one of the executor's own where an exception is thrown. */
	if (opcode - FT_CODE_WORD(chain, chain->php.opcodes) >= opcode_bytes(chain))
		return 0;
	if (bpf_probe_read_user(&chain->word, 8, (void *)(opcode + 24)))
		return 0;
	return (__u32)chain->word;
}

/*
 * The bottom of a fiber: its native stack ends here, and who runs it is on another one. Returns 0,
 * or -1 if there is no room.
 */
static __always_inline int leave_fiber(struct stack_scratch *scratch)
{
	if (!scratch->chain_ended)
		return 0;
	scratch->walk.stop = FT_STOP_ROOT;
	return keep_word(scratch, FT_WORD_STACK);
}

/* Stores the frame in hand. Returns 0, or -1 if there is no room. */
static __always_inline int keep_php_frame(struct stack_scratch *scratch,
					  struct chain_scratch *chain)
{
	__u32 cookie = 0, line = 0;

	if (!read_php_function(chain)) {
		if (is_fiber_bottom(chain))
			return leave_fiber(scratch);
		cookie = php_cookie(chain);
		if (is_user_function(chain))
			line = line_of(scratch, chain);
		send_php_function(scratch, chain, cookie);
	}
	if (keep_word(scratch, FT_WORD_PHP_FRAME | (chain->code & ~FT_WORD_KIND)))
		return -1;
	return keep_word(scratch, (__u64)cookie << 32 | line);
}

/*
 * Takes the next frame. 1: it is the last one that the loop in hand runs, or there is none;
 * scratch->chain says what is next.
 */
static __always_inline int next_php_frame(struct stack_scratch *scratch,
					  struct chain_scratch *chain, int *full)
{
	__u64 frame = chain->frame;

	if (!frame) {
		if (!scratch->chain_ended)
			*full = keep_word(scratch, FT_WORD_JOIN);
		scratch->chain = CHAIN_DONE;
		return 1;
	}
	if (read_frame(chain, frame, FT_PHP_FRAME_BYTES, 1)) {
		scratch->chain = CHAIN_BROKEN;
		return 1;
	}
	chain->code = FT_FRAME_WORD(chain, 24);
	chain->frame = FT_FRAME_WORD(chain, 48);
	/* Between generators that wait for one another, and at a thread's bottom. */
	if (!chain->code)
		return 0;
	chain->code_bytes[0] = 0;
	*full = keep_php_frame(scratch, chain);
	chain->taken++;
	/* ZEND_CALL_TOP: a function of PHP's that C has called, so by a loop of its own. */
	if (scratch->chain_ended || !is_user_function(chain) ||
	    !(*(__u32 *)FT_FRAME_BYTE(chain, 40) & 1u << 17))
		return 0;
	*full = *full || keep_word(scratch, FT_WORD_JOIN);
	scratch->chain = CHAIN_BELOW;
	return 1;
}

__attribute__((noinline)) int php_step(void)
{
	struct chain_scratch *chain;
	struct stack_scratch *scratch;
	__u32 zero = 0;
	int full = 0, through;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	chain = bpf_map_lookup_elem(&ft_chain, &zero);
	if (!scratch || !chain)
		return FT_STEP_ENDED;
	through = next_php_frame(scratch, chain, &full);
	return end_turn(scratch, through, full);
}

/* The walk came to code of PHP's: its newest frame is in the executor's globals. */
__attribute__((noinline)) int php_begin_step(void)
{
	struct chain_scratch *chain;
	struct stack_scratch *scratch;
	struct ft_slab slab = {};
	struct ft_php *build;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	chain = bpf_map_lookup_elem(&ft_chain, &zero);
	if (!scratch || !chain)
		return FT_STEP_ENDED;
	build = ft_at(NULL, &slab, scratch->walk.module.runtime, sizeof(struct ft_php));
	if (!build)
		return enter_chain(scratch, 0);
	chain->php = *build;
	chain->window_bytes = 0;
	chain->taken = 0;
	chain->frame = word_at(chain, scratch->walk.bias + chain->php.current);
	scratch->runtime = FT_RUNTIME_PHP;
	scratch->entry = scratch->walk.bias + chain->php.loop;
	scratch->loop_bytes = chain->php.loop_bytes;
	scratch->cold = scratch->walk.bias + chain->php.cold;
	scratch->cold_bytes = chain->php.cold_bytes;
	return enter_chain(scratch, chain->frame != 0);
}

#endif
