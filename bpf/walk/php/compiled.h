/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Code that PHP's compiler wrote has no frame: it runs in that of execute_ex(), which has jumped to
 * it, with the same stack pointer and RBP. docs/adr/0039-php-in-the-walk.md
 */
#ifndef FIRETOWER_BPF_WALK_PHP_COMPILED_H
#define FIRETOWER_BPF_WALK_PHP_COMPILED_H

#include "bpf/walk/walk_state.h"

/* Sets the frame in hand to the loop's. Returns the address to store for it. */
static __always_inline __u64 ft_php_loop_instead(struct ft_walk *walk)
{
	walk->ip = walk->builtins + 1;
	walk->returned = 1;
	walk->guessed = 0;
	return walk->ip;
}

#endif
