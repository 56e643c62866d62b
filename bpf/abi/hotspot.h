/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * HotSpot's frames lie on the native stack, in code that no file describes. A process that runs it
 * has a struct ft_hotspot in the arena (ft_process.machine), and the frames of its code cache are
 * two words in a stack body, as those of bpf/abi/runtime.h are:
 *
 *   FT_WORD_COMPILED    | address of the nmethod, then compile id << 32 | offset in its code
 *   FT_WORD_INTERPRETED | address of the Method, then the bytecode's, or FT_HOTSPOT_COOKIE
 *   FT_WORD_STUB        | address of the code blob, then the low half of the code's address
 *
 * The bytecode lies in the ConstMethod of the method, of which the cookie is where there is none,
 * so that either tells whether the Method is still what it was.
 * docs/adr/0037-hotspot-in-the-walk.md
 */
#ifndef FIRETOWER_BPF_ABI_HOTSPOT_H
#define FIRETOWER_BPF_ABI_HOTSPOT_H

#include "bpf/abi/runtime.h"
#include "bpf/abi/unwind.h"

#define FT_WORD_COMPILED (FT_WORD_MARK | 3ULL << 56)
#define FT_WORD_INTERPRETED (FT_WORD_MARK | 4ULL << 56)
#define FT_WORD_STUB (FT_WORD_MARK | 5ULL << 56)

#define FT_HOTSPOT_COOKIE(const_method) (FT_WORD_MARK | (const_method))

/* A part of the code cache, over all that it may grow to. */
struct ft_hotspot_heap {
	__u64 low;
	__u64 bytes;    /* 0: there is none */
	__u64 segments; /* address of its segment map */
};

#define FT_HOTSPOT_HEAPS 3

/* How to tell where a field points. */
enum ft_hotspot_form {
	FT_HOTSPOT_POINTER = 0,
	FT_HOTSPOT_FROM_BLOB = 1, /* 32 bits, from the blob on */
	FT_HOTSPOT_FROM_CODE = 2, /* 16 bits, from the blob's code on */
};

struct ft_hotspot_field {
	__u16 offset; /* in a block of the heap */
	__u16 form;   /* enum ft_hotspot_form */
};

/* Offsets in structs are as the libjvm of the process says (vmStructs); within a block of the heap,
 * which is a header and a blob, they are from the block on. */
struct ft_hotspot {
	struct ft_machine at; /* the whole code cache */
	struct ft_hotspot_heap heap[FT_HOTSPOT_HEAPS];
	__u64 interpreter;
	__u64 interpreter_bytes;
	__u64 call_return; /* where Java code returns to the stub that native code called it by */
	__u64 enter; /* address of the word with that of the frame that all of a virtual thread
			return to; or 0 */
	__u16 segment_shift;  /* log2 of a segment's bytes */
	__u16 head_bytes;     /* of a block that a read takes, at most FT_HOTSPOT_HEAD_BYTES */
	__u16 block_used;     /* a byte: the block is not free */
	__u16 blob;           /* the blob itself */
	__u16 size;           /* of the blob */
	__u16 frame_size;     /* in words */
	__u16 frame_complete; /* bytes of code until the frame is made */
	__u16 frame_complete_bytes; /* of that field: 2 or 4 */
	__u16 header_size;          /* the size of the blob's class … */
	__u16 header_size_bytes;    /* … and of that field */
	__u16 nmethod_bytes;        /* … which is this for compiled methods */
	__u16 compile_id;
	__u16 orig_pc; /* where the frame of a method that shall be deoptimised has its address */
	__u16 method_const;  /* in a Method: its ConstMethod */
	__u16 const_bytes;   /* of a ConstMethod, before its bytecodes */
	__s16 bytecode_slot; /* in an interpreted frame, from RBP: the bytecode */
	struct ft_hotspot_field code;
	struct ft_hotspot_field entry; /* of a compiled method, behind its check of the receiver */
	struct ft_hotspot_field deopt; /* where frames that shall be deoptimised return to */
	__u16 pad[22];
};

#define FT_HOTSPOT_HEAD_BYTES 440

FT_STATIC_ASSERT(sizeof(struct ft_hotspot) == 256, "it never crosses a slab");

#endif
