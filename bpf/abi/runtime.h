/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Runtimes that keep frames of their own beside the native stack, and how they stand in a stack
 * body. An address of user space has its upper byte zero; words with bit 63 set are:
 *
 *   FT_WORD_FRAME | address of the function's object, then cookie << 32 | position: of CPython
 *   FT_WORD_PHP_FRAME, FT_WORD_RUBY_FRAME and FT_WORD_PERL_FRAME, likewise
 *   FT_WORD_JOIN
 *   FT_WORD_STACK
 *
 * The walk meets a runtime in the middle of a stack, and then sends the frames of the innermost run
 * of the interpreter's loop. Their place is where FT_WORD_JOIN follows: the native frame before it
 * is that of the loop, which ran them. Frames without one belong behind the last native frame that
 * was found. Before CPython 3.11 each JOIN has one frame, and one without is a loop for which the
 * thread has none: the innermost one had not begun to run its frame, or had ended, so that the
 * frame of each JOIN belongs to the next one. Behind FT_WORD_STACK are the frames of who runs a
 * fiber of PHP's, which has a native stack of its own: that has ended.
 * docs/adr/0033-interpreters-in-the-walk.md
 */
#ifndef FIRETOWER_BPF_ABI_RUNTIME_H
#define FIRETOWER_BPF_ABI_RUNTIME_H

#include "bpf/abi/record.h"

#define FT_WORD_MARK (1ULL << 63)
#define FT_WORD_FRAME (FT_WORD_MARK | 1ULL << 56)
#define FT_WORD_JOIN (FT_WORD_MARK | 2ULL << 56)
#define FT_WORD_PHP_FRAME (FT_WORD_MARK | 8ULL << 56)
#define FT_WORD_STACK (FT_WORD_MARK | 9ULL << 56)
#define FT_WORD_RUBY_FRAME (FT_WORD_MARK | 10ULL << 56)
#define FT_WORD_PERL_FRAME (FT_WORD_MARK | 11ULL << 56)
#define FT_WORD_KIND (0xffULL << 56)

enum ft_runtime {
	FT_RUNTIME_NONE = 0,
	FT_RUNTIME_PYTHON = 1, /* CPython */
	FT_RUNTIME_PHP = 2,
	FT_RUNTIME_RUBY = 3,
	FT_RUNTIME_PERL = 4,
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
#define FT_CHAIN_FRAME_BYTES 112
#define FT_PYTHON_CODE_BYTES 160

/*
 * How to find the frames of PHP without threads (NTS) in one build. Addresses are relative to the
 * bias of the mapping of its code; the rest are offsets in struct _zend_op_array
 * (Zend/zend_compile.h).
 */
struct ft_php {
	__u16 runtime_kind; /* enum ft_runtime */
	__u16 version;      /* major * 100 + minor */
	__u16 opcodes;
	__u16 last; /* how many there are */
	__u16 file;
	__u16 first_line;
	__u32 loop_bytes;
	__s64 current; /* executor_globals.current_execute_data */
	__s64 loop;    /* execute_ex(), which runs frames up to one that was entered from C … */
	__s64 cold;    /* … and the part of it that the compiler has set apart; 0 bytes: none */
	__u32 cold_bytes;
	__u32 pad0;
	__s64 body; /* code of the loop that has its whole frame; 0: not known */
	__u64 pad[9];
};

/* struct _zend_execute_data, sizes of an opcode and of what is read of a function. */
#define FT_PHP_FRAME_BYTES 72
#define FT_PHP_OPCODE_BYTES 32
#define FT_PHP_FUNCTION_BYTES 184
/* An internal function is smaller, and may lie at the end of a page. */
#define FT_PHP_INTERNAL_BYTES 32

/* The state of a nameless function's ft_function::name. */
#define FT_PHP_MAIN 1 /* the script's own code, not of a file that it includes */

/*
 * How to find the frames of a build of CRuby. Addresses are relative to the bias of the mapping of
 * its code. The rest are offsets in struct rb_iseq_constant_body (vm_core.h), which stand for one
 * version each.
 */
#define FT_RUBY_SLOTS 4

struct ft_ruby {
	__u16 runtime_kind; /* enum ft_runtime */
	__u16 version;      /* major * 100 + minor */
	__u16 frame_bytes;  /* struct rb_control_frame_struct */
	__u16 first_line;
	__u16 first_line_tagged; /* 1: it is a number as Ruby has them, twice it and one */
	__u16 lines;             /* insns_info: entries, positions, how many, succ_index_table */
	__u16 entry_bytes;       /* of such an entry */
	__u16 string_length;     /* 1: a string has its length before its text */
	__u32 loop_bytes;
	__u32 core_bytes;
	__s64 loop; /* rb_vm_exec(), which runs frames up to one that was entered from C … */
	__s64 core; /* … and vm_exec_core(), which it calls for that */
	__s64 cold; /* a part of the latter that the compiler has set apart; 0 bytes: none */
	__u32 cold_bytes;
	__u32 slots;
	__s64 global; /* before 3.0: ruby_current_execution_context_ptr; else 0 … */
	/* … and slots of the GOT, {module, offset} of variables of the thread, one of them the
	 * context. */
	__s64 slot[FT_RUBY_SLOTS];
	__u32 offset[FT_RUBY_SLOTS];
	__u64 pad[2];
};

/* The name and the tables of a body lie within this. */
#define FT_RUBY_BODY_BYTES 152

/*
 * ft_function::lines of Ruby: struct ft_ruby_lines, then so many entries of insns_info as fit. The
 * index is succ_index_table (iseq.c): 54 positions in words of nine, then blocks of 512.
 */
#define FT_RUBY_IMMEDIATE 54
#define FT_RUBY_BLOCKS 5

struct ft_ruby_lines {
	__u32 positions; /* of the function's code */
	__u32 entries;   /* of the whole table */
	__u64 immediate[FT_RUBY_IMMEDIATE / 9];
	__u64 block[FT_RUBY_BLOCKS][10]; /* rank, ranks of its words, words */
};

/*
 * How to find the frames of a build of Perl with ithreads. Addresses are relative to the bias of
 * the mapping of its code; the rest are offsets in struct interpreter (intrpvar.h), and numbers of
 * operations (opnames.h).
 */
struct ft_perl {
	__u16 runtime_kind; /* enum ft_runtime */
	__u16 version;      /* major * 100 + minor */
	__u16 statement;    /* PL_curcop */
	__u16 stack;        /* PL_curstackinfo */
	__u16 next_state;   /* OP_NEXTSTATE, whose next number is OP_DBSTATE; 0: not known */
	__u16 name_apart;   /* 1: a package has its name behind its table (before 5.36) */
	__u32 loop_bytes;
	__u32 core_bytes;
	__u32 run_bytes;
	__s64 key;  /* PL_thr_key: the pthread key of the thread's interpreter */
	__s64 loop; /* Perl_runops_standard(), which runs frames up to one that C has entered … */
	__s64 core; /* … and docatch(), which a frame calls for another loop of its own */
	__s64 run;  /* perl_run(), which runs the script */
	__u64 pad[9];
};

/* Kinds of Perl's frames: the state of ft_function::name. */
enum ft_perl_kind {
	FT_PERL_SUB = 0,
	FT_PERL_FORMAT = 1,
	FT_PERL_EVAL = 2,    /* of a text */
	FT_PERL_REQUIRE = 3, /* likewise `do FILE` */
	FT_PERL_MAIN = 4,
};

union ft_interpreter {
	struct ft_python python;
	struct ft_php php;
	struct ft_ruby ruby;
	struct ft_perl perl;
};

/* A function that was met the first time in an epoch, as it was when it ran. */
struct ft_text {
	__u64 length; /* characters, of the whole text */
	__u32 state;  /* the string object's */
	__u32 bytes;  /* of `text` that were read */
	__u8 text[256];
};

#define FT_FUNCTION_LINES 4096

struct ft_function {
	__u64 time_ns;
	__u64 code;     /* address of its object */
	__u64 start_ns; /* when the process began: with tgid, its identity */
	__u32 tgid;
	__u32 exec_id;
	__u32 epoch;
	__u32 cookie; /* with `code` it names the function in stack bodies */
	__u16 minor;  /* of CPython's version; else as ft_php::version */
	__u8 kind;    /* FT_KIND_FUNCTION */
	__u8 runtime; /* enum ft_runtime */
	__u32 first_line;
	struct ft_text name;
	struct ft_text file;
	__u32 lines_size;  /* of the table of lines; in PHP and Perl of the name of the class */
	__u32 lines_bytes; /* of it that follow */
	__u8 lines[FT_FUNCTION_LINES];
};

FT_STATIC_ASSERT(sizeof(struct ft_python) == 128, "it is of whole cache lines, as its place");
FT_STATIC_ASSERT(sizeof(struct ft_php) == sizeof(struct ft_python), "and all take one place");
FT_STATIC_ASSERT(sizeof(struct ft_ruby) == sizeof(struct ft_python), "and all take one place");
FT_STATIC_ASSERT(sizeof(struct ft_perl) == sizeof(struct ft_python), "and all take one place");
FT_STATIC_ASSERT(sizeof(struct ft_ruby_lines) == 456, "its tables are where iseq.c has them");
FT_STATIC_ASSERT(__builtin_offsetof(struct ft_function, kind) == 42, "kind is at byte 42");
FT_STATIC_ASSERT(__builtin_offsetof(struct ft_function, name) == 48, "all heads have 48 bytes");

#endif
