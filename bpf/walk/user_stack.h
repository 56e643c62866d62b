/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Reads words of the walked stack. The cost of a read of user memory is mostly its call, so one
 * read fetches a window: the rest of its cache line and the next one, which often has the next
 * frames too. A window never reaches into another page, which may not be resident.
 *
 * The including file defines FT_PROBE_USER(to, size, address): 0, or an error if any byte is not
 * resident.
 */
#ifndef FIRETOWER_BPF_WALK_USER_STACK_H
#define FIRETOWER_BPF_WALK_USER_STACK_H

#include "bpf/walk/walk_state.h"

/* Moves the window to `address`, a multiple of 8. Returns 0, or an error if nothing is there. */
static __always_inline int move_window(struct stack_window *window, __u64 address)
{
	__u32 bytes = 2 * FT_LINE_BYTES - (address & (FT_LINE_BYTES - 1));
	__u32 in_page = FT_PAGE_BYTES - (address & (FT_PAGE_BYTES - 1));

	if (bytes > in_page)
		bytes = in_page;
	window->begin = address;
	window->bytes = bytes;
	if (!FT_PROBE_USER(window->word, bytes, address))
		return 0;
	window->bytes = 0;
	return -1;
}

/* Reads `size` bytes, 8 or 16. Returns 0, or an error if one of them is not resident. */
static __always_inline int read_user_stack(struct stack_window *window, void *to, __u32 size,
					   __u64 address)
{
	__u64 *words = (__u64 *)to, at = address - window->begin;

	/* For an address below the window, `at` wraps to a large number. */
	if (at >= window->bytes || window->bytes - at < size) {
		if ((address & 7) || (address & (FT_PAGE_BYTES - 1)) > FT_PAGE_BYTES - size)
			return FT_PROBE_USER(to, size, address);
		if (move_window(window, address))
			return -1;
		at = 0;
	} else if (at & 7) {
		return FT_PROBE_USER(to, size, address);
	}
	at /= 8;
	words[0] = window->word[at & (FT_WINDOW_WORDS - 1)];
	if (size == 16)
		words[1] = window->word[(at + 1) & (FT_WINDOW_WORDS - 1)];
	return 0;
}

#endif
