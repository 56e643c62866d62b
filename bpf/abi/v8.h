/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * V8's frames lie on the native stack, in code that no file has rows for, and all of them have
 * frame pointers. A process that runs it has a struct ft_v8 in the arena (ft_process.machine), and
 * the frames of JavaScript functions are two or four words in a stack body:
 *
 *   FT_WORD_SCRIPT   | address of the SharedFunctionInfo, then ft_v8_cookie() << 32 | position
 *   FT_WORD_COMPILED_SCRIPT | the same, the same, then the address of the Code that the function
 *                      had, with FT_V8_LEAF in a frame that made no call, and of its FeedbackCell
 *
 * The position is 0, or in the interpreter one more than the offset of the bytecode in its array;
 * in compiled code it is the low half of the program counter. That need not be of the Code: a loop
 * may run in code of its own, which only the feedback knows. Other frames of V8's keep their
 * addresses. docs/adr/0038-v8-in-the-walk.md
 */
#ifndef FIRETOWER_BPF_ABI_V8_H
#define FIRETOWER_BPF_ABI_V8_H

#include "bpf/abi/runtime.h"
#include "bpf/abi/unwind.h"

#define FT_WORD_SCRIPT (FT_WORD_MARK | 6ULL << 56)
#define FT_WORD_COMPILED_SCRIPT (FT_WORD_MARK | 7ULL << 56)
#define FT_V8_LEAF (1ULL << 63)

/* A tagged pointer has these low bits (include/v8-internal.h). */
#define FT_V8_TAG 1
#define FT_V8_TAG_MASK 3

/* The first bytes of these objects, which have what is read of them here. */
#define FT_V8_FUNCTION_BYTES 56
#define FT_V8_SHARED_BYTES 64

/* Offsets in objects are as the file says (its symbols v8dbg_…), from the object's own address. */
struct ft_v8 {
	struct ft_machine at;
	__u64 copied; /* a second mapping of the built-in functions, nearer to compiled code … */
	__u64 copied_bytes; /* … or 0 */
	__u64 dispatch;     /* the table that a function's 32-bit handle of its Code is of, or 0 */
	__u16 function_shared;   /* in a JSFunction: its SharedFunctionInfo */
	__u16 function_code;     /* … its Code, or the handle; 0: neither is known … */
	__u16 function_feedback; /* … and its FeedbackCell */
	__u16 shared_name;       /* in a SharedFunctionInfo: its name or ScopeInfo … */
	__u16 shared_script;     /* … and its Script */
	__u16 pad[15];
};

/* Tells functions apart that have had the same place, by what two fields of theirs point to. */
static inline __u32 ft_v8_cookie(__u64 name, __u64 script)
{
	__u64 hash = (name * 0xff51afd7ed558ccdULL) ^ script;

	/* No mark of a word. */
	return (__u32)((hash * 0xff51afd7ed558ccdULL) >> 33);
}

/* The entries of the dispatch table: {code's address, Code << 16 | more}, by the handle's upper
 * bits (src/sandbox/js-dispatch-table.h). */
#define FT_V8_DISPATCH_SHIFT 8
#define FT_V8_DISPATCH_BYTES 16
#define FT_V8_DISPATCH_CODE 8

static inline __u64 ft_v8_dispatched(__u64 entry)
{
	/* The collector has the bit that is the pointer's tag. */
	return (entry >> 16) | FT_V8_TAG;
}

FT_STATIC_ASSERT(sizeof(struct ft_v8) == 128, "it never crosses a slab");

#endif
