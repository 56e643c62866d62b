/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Reads a function of PHP's and sends what names it when the walk meets it: the interrupted thread
 * holds the frame, which holds the function, so nothing of it can change. The layouts of
 * union _zend_function, struct _zend_string and struct _zend_class_entry are those of
 * Zend/zend_compile.h, zend_types.h and zend.h.
 */
#ifndef FIRETOWER_BPF_WALK_PHP_FUNCTION_H
#define FIRETOWER_BPF_WALK_PHP_FUNCTION_H

#include "bpf/walk/chain_frames.h"

/* Reads the function at chain->code. Returns 0, or -1 if it is not resident or none. */
static __always_inline int read_php_function(struct chain_scratch *chain)
{
	if (bpf_probe_read_user(chain->code_bytes, FT_PHP_FUNCTION_BYTES, (void *)chain->code) &&
	    bpf_probe_read_user(chain->code_bytes, FT_PHP_INTERNAL_BYTES, (void *)chain->code)) {
		chain->code_bytes[0] = 0;
		return -1;
	}
	/* ZEND_INTERNAL_FUNCTION, ZEND_USER_FUNCTION, ZEND_EVAL_CODE */
	return chain->code_bytes[0] == 1 || chain->code_bytes[0] == 2 || chain->code_bytes[0] == 4 ?
		       0 :
		       -1;
}

/* 1: the function in hand is of PHP's own code, not of C. */
static __always_inline int is_user_function(struct chain_scratch *chain)
{
	return chain->code_bytes[0] == 2 || chain->code_bytes[0] == 4;
}

/* 1: it is the nameless function at the bottom of a fiber (zend_fiber_function). */
static __always_inline int is_fiber_bottom(struct chain_scratch *chain)
{
	return chain->code_bytes[0] == 1 && !FT_CODE_WORD(chain, 8);
}

static __always_inline __u64 opcode_bytes(struct chain_scratch *chain)
{
	__u32 count = *(__u32 *)(chain->code_bytes + (chain->php.last & 252));

	return (__u64)count * FT_PHP_OPCODE_BYTES;
}

/* Returns what tells the function in hand from others that stood at its address before. */
static __always_inline __u32 php_cookie(struct chain_scratch *chain)
{
	/* fn_flags, function_name and scope */
	__u64 hash =
		mix(mix(FT_CODE_WORD(chain, 0), FT_CODE_WORD(chain, 8)), FT_CODE_WORD(chain, 16));

	if (is_user_function(chain)) {
		hash = mix(hash, FT_CODE_WORD(chain, chain->php.file));
		hash = mix(hash, FT_CODE_WORD(chain, chain->php.opcodes));
	}
	return (__u32)(hash >> 8) | 1;
}

/* Reads a string: its length at 16, its bytes from 24 on. */
static __always_inline void read_php_text(struct ft_text *to, __u64 string)
{
	__u64 bytes;

	to->length = to->bytes = 0;
	if (!string || bpf_probe_read_user(&to->length, 8, (void *)(string + 16)))
		return;
	bytes = to->length < 255 ? to->length : 255;
	FT_MASKED(bytes, 255);
	if (!bpf_probe_read_user(to->text, bytes, (void *)(string + 24)))
		to->bytes = (__u32)bytes;
}

/* Sends the function in hand, unless it went before in this epoch. */
static __always_inline void send_php_function(struct stack_scratch *scratch,
					      struct chain_scratch *chain, __u32 cookie)
{
	struct ft_function *to = &chain->function;
	__u64 hash, bytes = 0, *sent = begin_function(scratch, chain, cookie, &hash);

	if (!sent)
		return;
	to->minor = chain->php.version;
	to->runtime = FT_RUNTIME_PHP;
	read_php_text(&to->name, FT_CODE_WORD(chain, 8));
	to->name.state = chain->frame ? 0 : FT_PHP_MAIN;
	to->file.length = to->file.bytes = to->first_line = 0;
	if (is_user_function(chain)) {
		read_php_text(&to->file, FT_CODE_WORD(chain, chain->php.file));
		to->first_line = *(__u32 *)(chain->code_bytes + (chain->php.first_line & 252));
	}
	to->file.state = chain->code_bytes[0];
	/* Its class has its name at 8. */
	to->lines_size = 0;
	chain->word = FT_CODE_WORD(chain, 16);
	if (chain->word && !bpf_probe_read_user(&chain->word, 8, (void *)(chain->word + 8)) &&
	    !bpf_probe_read_user(&to->lines_size, 4, (void *)(chain->word + 16))) {
		bytes = to->lines_size < 255 ? to->lines_size : 255;
		FT_MASKED(bytes, 255);
		if (bpf_probe_read_user(to->lines, bytes, (void *)(chain->word + 24)))
			bytes = 0;
	}
	end_function(to, bytes, sent, hash);
}

#endif
