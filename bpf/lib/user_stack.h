/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Words of the stack that is walked. A read of user memory costs the same for 8 bytes and for 128,
 * so it brings a window, which often holds the next frames, too. It never reaches into another
 * page: that need not be resident.
 */
#ifndef FIRETOWER_BPF_LIB_USER_STACK_H
#define FIRETOWER_BPF_LIB_USER_STACK_H

#include "bpf/lib/maps.h"

#define FT_WINDOW_WORDS 16
#define FT_PAGE_BYTES 4096

struct stack_window {
	__u64 begin; /* a multiple of 8 */
	__u64 bytes; /* 0: there is none */
	__u64 word[FT_WINDOW_WORDS];
};

/* Puts the window to `address`, a multiple of 8. Returns 0, or an error if nothing is there. */
static __always_inline int move_window(struct stack_window *window, __u64 address)
{
	__u32 bytes = FT_PAGE_BYTES - (address & (FT_PAGE_BYTES - 1));

	if (bytes > sizeof(window->word))
		bytes = sizeof(window->word);
	window->begin = address;
	window->bytes = bytes;
	if (!bpf_probe_read_user(window->word, bytes, (void *)address))
		return 0;
	window->bytes = 0;
	return -1;
}

/* `size` is 8 or 16. Returns 0, or an error if a byte of it is not resident. */
static __always_inline int read_user_stack(struct stack_window *window, void *to, __u32 size,
					   __u64 address)
{
	__u64 *words = to, at = address - window->begin;

	/* Below its begin `at` is a large number. */
	if (at >= window->bytes || window->bytes - at < size) {
		if ((address & 7) || (address & (FT_PAGE_BYTES - 1)) > FT_PAGE_BYTES - size)
			return bpf_probe_read_user(to, size, (void *)address);
		if (move_window(window, address))
			return -1;
		at = 0;
	} else if (at & 7) {
		return bpf_probe_read_user(to, size, (void *)address);
	}
	at /= 8;
	words[0] = window->word[at & (FT_WINDOW_WORDS - 1)];
	if (size == 16)
		words[1] = window->word[(at + 1) & (FT_WINDOW_WORDS - 1)];
	return 0;
}

#endif
