/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Sends what names a function of CPython's, out of its code object, when the walk meets it: the
 * interrupted thread holds the frame, which holds the function, so nothing of it can change.
 */
#ifndef FIRETOWER_BPF_WALK_PYTHON_FUNCTION_H
#define FIRETOWER_BPF_WALK_PYTHON_FUNCTION_H

#include "bpf/walk/chain_frames.h"

static __always_inline void read_text(struct ft_text *to, __u64 object, __u32 text)
{
	__u64 bytes, from = object + text, in_page = FT_PAGE_BYTES - (from & (FT_PAGE_BYTES - 1));

	to->length = to->state = to->bytes = 0;
	if (bpf_probe_read_user(&to->length, 8, (void *)(object + 16)) ||
	    bpf_probe_read_user(&to->state, 4, (void *)(object + 32)))
		return;
	/* Up to four bytes a character, behind up to 24 bytes more of the object. */
	bytes = to->length < 57 ? to->length * 4 + 24 : 255;
	FT_MASKED(bytes, 255);
	if (bpf_probe_read_user(to->text, bytes, (void *)from)) {
		/* The object may end at the end of a page, and the next one be absent. */
		bytes = bytes < in_page ? bytes : in_page;
		FT_MASKED(bytes, 255);
		if (bpf_probe_read_user(to->text, bytes, (void *)from))
			return;
	}
	to->bytes = (__u32)bytes;
}

/* Sends the function of the code object in hand, unless it went before in this epoch. */
static __always_inline void send_function(struct stack_scratch *scratch,
					  struct chain_scratch *python, __u32 cookie)
{
	struct ft_function *to = &python->function;
	__u64 hash, lines, bytes, size = 0, *sent = begin_function(scratch, python, cookie, &hash);

	if (!sent)
		return;
	to->minor = python->build.minor;
	to->runtime = FT_RUNTIME_PYTHON;
	to->first_line = *(__u32 *)(python->code_bytes + (python->build.code_first_line & 252));
	read_text(&to->name, FT_CODE_WORD(python, python->build.code_name), python->build.text);
	read_text(&to->file, FT_CODE_WORD(python, python->build.code_file), python->build.text);
	/* A bytes object: its size at 16, its bytes from 32 on. */
	lines = FT_CODE_WORD(python, python->build.code_lines);
	if (bpf_probe_read_user(&size, 8, (void *)(lines + 16)))
		size = 0;
	bytes = size < FT_FUNCTION_LINES ? size : FT_FUNCTION_LINES - 1;
	FT_MASKED(bytes, 4095);
	if (bpf_probe_read_user(to->lines, bytes, (void *)(lines + 32)))
		bytes = 0;
	to->lines_size = size > ~0u ? 0 : (__u32)size;
	end_function(to, bytes, sent, hash);
}

#endif
