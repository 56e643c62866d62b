/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Tells how much of its frame a compiled method of HotSpot's has where it was interrupted. */
#ifndef FIRETOWER_BPF_WALK_HOTSPOT_LEAF_H
#define FIRETOWER_BPF_WALK_HOTSPOT_LEAF_H

#include "bpf/walk/hotspot/blob.h"

enum leaf_state {
	LEAF_WHOLE = 0,  /* the frame is there as its size says */
	LEAF_RETURN = 1, /* the return address is on top of the stack */
	LEAF_PUSHED = 2, /* the caller's RBP is, and behind it the return address */
	LEAF_NO_BP = 3,  /* the frame is there, the caller's RBP not in it yet */
};

/* 1: the bytes of code from `at` on are these; `count` (1 to 4) is a constant. */
#define FT_CODE_IS(code, at, count, value)                                                     \
	((*(__u32 *)((code) + FT_CODE_BEFORE + (at)) & (0xffffffffu >> (32 - 8 * (count)))) == \
	 (value))

/*
 * Tells how far a compiled method's first or last instructions have come, by its code: push rbp is
 * 55, pop rbp 5d, ret c3, sub rsp 48 83 ec or 48 81 ec, the probe of the stack 89 84 24, and the
 * poll between pop and ret one of four.
 */
static __always_inline int ft_leaf_state(struct hotspot_walk *h, __u64 pc)
{
	__u8 *code = h->bytes;
	__u64 entry = ft_field_of(h, h->vm.entry);
	__u32 complete = ft_sized_field(h, h->vm.frame_complete, h->vm.frame_complete_bytes);
	int makes_room = FT_CODE_IS(code, 0, 3, 0xec8348) || FT_CODE_IS(code, 0, 3, 0xec8148);

	if (pc <= entry)
		return LEAF_RETURN;
	if (pc - h->code < complete) {
		if (makes_room || FT_CODE_IS(code, 0, 3, 0xec8b48))
			return FT_CODE_IS(code, -1, 1, 0x55) ||
					       FT_CODE_IS(code, -4, 4, 0xec8b4855) ?
				       LEAF_PUSHED :
				       LEAF_RETURN;
		if (FT_CODE_IS(code, 0, 1, 0x55) || FT_CODE_IS(code, 0, 3, 0x248489) ||
		    FT_CODE_IS(code, 0, 2, 0x1f0f))
			return LEAF_RETURN;
		if (FT_CODE_IS(code, 0, 4, 0x246c8948))
			return LEAF_NO_BP;
		return LEAF_WHOLE;
	}
	if (FT_CODE_IS(code, 0, 1, 0xc3))
		return LEAF_RETURN;
	/* cmp rsp, [r15 + poll]; ja; ret: from 16 on; the poll's offset has 8 or 32 bits. */
	if (FT_CODE_IS(code, 0, 3, 0xa73b49) || FT_CODE_IS(code, 0, 3, 0x673b49) ||
	    (FT_CODE_IS(code, 0, 2, 0x870f) &&
	     (FT_CODE_IS(code, -7, 3, 0xa73b49) || FT_CODE_IS(code, -4, 3, 0x673b49))))
		return LEAF_RETURN;
	/* leave; cmp [r15 + exception], 0; jne; ret: the wrapper of a native method. */
	if ((FT_CODE_IS(code, -1, 4, 0x7f8349c9) || FT_CODE_IS(code, -1, 4, 0x7f8149c9)) ||
	    (FT_CODE_IS(code, 0, 2, 0x850f) && FT_CODE_IS(code, -6, 4, 0x7f8349c9)))
		return LEAF_RETURN;
	/* mov r10, [r15 + poll]; test [r10], eax; ret: 11 to 15. test [rip + poll], eax: 8. */
	if ((FT_CODE_IS(code, 0, 3, 0x978b4d) && FT_CODE_IS(code, 10, 1, 0xc3)) ||
	    FT_CODE_IS(code, 0, 4, 0xc3028541) ||
	    (FT_CODE_IS(code, 0, 2, 0x0585) && FT_CODE_IS(code, 6, 1, 0xc3)))
		return LEAF_RETURN;
	if (FT_CODE_IS(code, 0, 1, 0x5d) &&
	    (FT_CODE_IS(code, 1, 1, 0xc3) || FT_CODE_IS(code, 1, 3, 0xa73b49) ||
	     FT_CODE_IS(code, 1, 3, 0x673b49) || FT_CODE_IS(code, 1, 3, 0x978b4d) ||
	     FT_CODE_IS(code, 1, 2, 0x0585)))
		return LEAF_PUSHED;
	return LEAF_WHOLE;
}

#endif
