/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Runtimes that keep frames of their own beside the native stack, and how they stand in a stack
 * body. An address of user space has its upper byte zero; words with bit 63 set are:
 *
 *   FT_WORD_FRAME | address of the function's object, then cookie << 32 | position
 *   FT_WORD_JOIN
 *
 * The walk meets a runtime in the middle of a stack, and then sends the frames of the innermost run
 * of the interpreter's loop. Their place is where FT_WORD_JOIN follows: the native frame before it
 * is that of the loop, which ran them. Frames without one belong behind the last native frame that
 * was found. Before CPython 3.11 each JOIN has one frame, and one without is a loop for which the
 * thread has none: the innermost one had not begun to run its frame, or had ended, so that the
 * frame of each JOIN belongs to the next one. docs/adr/0033-interpreters-in-the-walk.md
 */
#ifndef FIRETOWER_BPF_ABI_RUNTIME_H
#define FIRETOWER_BPF_ABI_RUNTIME_H

#include "bpf/abi/record.h"

#define FT_WORD_MARK (1ULL << 63)
#define FT_WORD_FRAME (FT_WORD_MARK | 1ULL << 56)
#define FT_WORD_JOIN (FT_WORD_MARK | 2ULL << 56)
#define FT_WORD_KIND (0xffULL << 56)

enum ft_runtime {
	FT_RUNTIME_NONE = 0,
	FT_RUNTIME_PYTHON = 1, /* CPython */
};

/* How it is told where the frames of a run of CPython's loop belong. */
enum ft_python_entry {
	FT_PYTHON_CFRAME = 0, /* 3.11: _PyCFrame; the run's outermost frame is marked */
	FT_PYTHON_SHIM = 1,   /* from 3.12 on: a frame of its own, told by its owner */
	FT_PYTHON_LOOP = 2,   /* before 3.11: each native frame of the loop runs one frame */
};

/*
 * How to find a thread's frames in one build of CPython. `runtime`, `code_type` and `loop` are
 * relative to the bias of the mapping of its code; the rest are offsets in its structs.
 */
struct ft_python {
	__u16 runtime_kind; /* enum ft_runtime */
	__u16 minor;        /* 3.minor */
	__u16 entry;        /* enum ft_python_entry */
	__u16 owner_entry;  /* FT_PYTHON_SHIM: frames with this owner or a higher one are records */
	__s64 runtime;      /* _PyRuntime */
	__s64 code_type;    /* PyCode_Type */
	__s64 loop;         /* FT_PYTHON_LOOP: the function that is the loop … */
	__u32 loop_bytes;   /* … and its size */
	__u32 thread_key; /* in _PyRuntime: the pthread key of the thread state; 0: there is none */
	__u16 interpreters; /* in _PyRuntime: the first one */
	__u16 interpreter_next;
	__u16 interpreter_threads; /* its first thread's state */
	__u16 state_next;
	__u16 state_thread; /* pthread_self() of the thread: FS */
	__u16 thread_frame; /* in the thread state: the newest frame, or the record that has it */
	__u16 record_frame; /* in that record; FT_PYTHON_DIRECT: thread_frame is the frame's */
	__u16 frame_code;
	__u16 frame_previous;
	__u16 frame_instruction;
	__u16 frame_owner; /* a byte */
	__u16 code_first_line;
	__u16 code_file;
	__u16 code_name;
	__u16 code_lines;
	__u16 code_start;  /* the first instruction */
	__u16 text;        /* in a string of ASCII: its bytes */
	__u16 frame_bytes; /* that a read of a frame takes */
	__u16 pad[26];
};

#define FT_PYTHON_DIRECT 0xffff

/* The fields of a frame and of a code object above lie within these. */
#define FT_PYTHON_FRAME_BYTES 112
#define FT_PYTHON_CODE_BYTES 160

/* A function that was met the first time in an epoch, as it was when it ran. */
struct ft_text {
	__u64 length; /* characters, of the whole text */
	__u32 state;  /* the string object's */
	__u32 bytes;  /* of `text` that were read */
	__u8 text[256];
};

#define FT_FUNCTION_LINES 1024

struct ft_function {
	__u64 time_ns;
	__u64 code;     /* address of its object */
	__u64 start_ns; /* when the process began: with tgid, its identity */
	__u32 tgid;
	__u32 exec_id;
	__u32 epoch;
	__u32 cookie; /* with `code` it names the function in stack bodies */
	__u16 minor;  /* of the runtime's version */
	__u8 kind;    /* FT_KIND_FUNCTION */
	__u8 runtime; /* enum ft_runtime */
	__u32 first_line;
	struct ft_text name;
	struct ft_text file;
	__u32 lines_size;  /* of the table of lines */
	__u32 lines_bytes; /* of it that follow */
	__u8 lines[FT_FUNCTION_LINES];
};

FT_STATIC_ASSERT(sizeof(struct ft_python) == 128, "it is of whole cache lines, as its place");
FT_STATIC_ASSERT(__builtin_offsetof(struct ft_function, kind) == 42, "kind is at byte 42");
FT_STATIC_ASSERT(__builtin_offsetof(struct ft_function, name) == 48, "all heads have 48 bytes");

#endif
