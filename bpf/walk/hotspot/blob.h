/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Finds what HotSpot made some code for: from an address of its code cache to the head of the block
 * that has it (heap.hpp and codeBlob.hpp of its sources). The including file defines
 *   FT_READ_FAR(env, to, size, address)   0, or an error if any of those bytes of the process's
 * memory besides its stacks is not resident
 */
#ifndef FIRETOWER_BPF_WALK_HOTSPOT_BLOB_H
#define FIRETOWER_BPF_WALK_HOTSPOT_BLOB_H

#include "bpf/abi/hotspot.h"
#include "bpf/walk/walk_state.h"

/* Bytes of code before and behind the program counter of a leaf. */
#define FT_CODE_BEFORE 8
#define FT_CODE_BYTES 24
/* Steps back in a segment map: one for each 254 segments of a blob, and for each time that its
 * block was made of free ones. */
#define FT_SEGMENT_STEPS 14
/* Bytes of a segment map that are read at once, a power of two. */
#define FT_SEGMENT_BYTES 16

struct hotspot_walk {
	struct ft_hotspot vm;
	struct ft_hotspot_heap heap; /* that has the code */
	/* The frame in hand, as a stack body has it. */
	__u64 word;
	__u64 where;
	__u64 blob;    /* address of the blob of the code */
	__u64 code;    /* of its first instruction */
	__u64 address; /* that was read last */
	__u64 frame[12];
	__u8 bytes[FT_CODE_BYTES];
	__u8 segments[FT_SEGMENT_BYTES];
	__u8 head[512]; /* the block */
};

/* The offsets are bounded where user space makes them; the masks are for the verifier. */
#define FT_HEAD_U64(h, offset) (*(__u64 *)((h)->head + ((offset)&504)))
#define FT_HEAD_U32(h, offset) (*(__u32 *)((h)->head + ((offset)&508)))
#define FT_HEAD_U16(h, offset) (*(__u16 *)((h)->head + ((offset)&510)))
#define FT_HEAD_U8(h, offset) (*(__u8 *)((h)->head + ((offset)&511)))

static __always_inline int ft_in_code_cache(struct hotspot_walk *h, __u64 address)
{
	return address - h->vm.at.low < h->vm.at.bytes;
}

/* Returns the address that a field of the block in hand says. */
static __always_inline __u64 ft_field_of(struct hotspot_walk *h, struct ft_hotspot_field field)
{
	if (field.form == FT_HOTSPOT_POINTER)
		return FT_HEAD_U64(h, field.offset);
	if (field.form == FT_HOTSPOT_FROM_BLOB)
		return h->blob + FT_HEAD_U32(h, field.offset);
	return h->code + FT_HEAD_U16(h, field.offset);
}

static __always_inline __u32 ft_sized_field(struct hotspot_walk *h, __u32 offset, __u32 bytes)
{
	return bytes == 2 ? FT_HEAD_U16(h, offset) : FT_HEAD_U32(h, offset);
}

static __always_inline int ft_is_nmethod(struct hotspot_walk *h)
{
	return ft_sized_field(h, h->vm.header_size, h->vm.header_size_bytes) == h->vm.nmethod_bytes;
}

/*
 * Finds the first segment of a block. A byte of the map says how many segments lie between its own
 * and the block's first one, or a part of them; 0xff: the block is free. Most blocks are small: the
 * bytes that lie before come with the first read. Returns 0, or -1 if there is no such block.
 */
static __always_inline int ft_first_segment(void *env, struct hotspot_walk *h, __u64 *segment)
{
	const __u64 last = FT_SEGMENT_BYTES - 1;
	__u8 back = 1;

	if (*segment >= last &&
	    !FT_READ_FAR(env, h->segments, FT_SEGMENT_BYTES, h->heap.segments + *segment - last)) {
		back = h->segments[last];
		if (back <= last && !h->segments[(last - back) & last]) {
			*segment -= back;
			return 0;
		}
	}
	for (int i = 0; i < FT_SEGMENT_STEPS; i++) {
		if (FT_READ_FAR(env, &back, 1, h->heap.segments + *segment))
			return -1;
		if (!back)
			return 0;
		if (back == 0xff || back > *segment)
			return -1;
		*segment -= back;
	}
	return -1;
}

/* Reads the head of the block that has the code at pc. Returns 0, or -1 if none has. */
static __always_inline int ft_read_block(void *env, struct hotspot_walk *h, __u64 pc)
{
	__u64 segment = (pc - h->heap.low) >> (h->vm.segment_shift & 31);
	__u32 bytes = h->vm.head_bytes;
	__u64 block;

	if (ft_first_segment(env, h, &segment))
		return -1;
	block = h->heap.low + (segment << (h->vm.segment_shift & 31));
	FT_MASKED(bytes, 511);
	if (FT_READ_FAR(env, h->head, bytes, block) || !FT_HEAD_U8(h, h->vm.block_used))
		return -1;
	h->blob = block + h->vm.blob;
	h->code = ft_field_of(h, h->vm.code);
	return pc < h->code || pc >= h->blob + FT_HEAD_U32(h, h->vm.size) ? -1 : 0;
}

/* Finds the heap of an address; in memory, so that the verifier follows one way from there. */
static __always_inline int ft_find_heap(struct hotspot_walk *h, __u64 pc)
{
	if (pc - h->vm.heap[0].low < h->vm.heap[0].bytes)
		h->heap = h->vm.heap[0];
	else if (pc - h->vm.heap[1].low < h->vm.heap[1].bytes)
		h->heap = h->vm.heap[1];
	else if (pc - h->vm.heap[2].low < h->vm.heap[2].bytes)
		h->heap = h->vm.heap[2];
	else
		return -1;
	return 0;
}

#endif
