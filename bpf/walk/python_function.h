/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Sends what names a function of CPython's, out of its code object, when the walk meets it: the
 * interrupted thread holds the frame, which holds the function, so nothing of it can change.
 */
#ifndef FIRETOWER_BPF_WALK_PYTHON_FUNCTION_H
#define FIRETOWER_BPF_WALK_PYTHON_FUNCTION_H

#include "bpf/abi/runtime.h"
#include "bpf/lib/scratch.h"

/*
 * Frames of calls lie behind one another, the caller's first. A read costs mostly its call, so one
 * fetches what lies before a frame as well.
 */
#define FT_PYTHON_WINDOW_BYTES 512

struct python_scratch {
	struct ft_python build;
	__u64 frame;  /* the next one */
	__u64 record; /* FT_PYTHON_CFRAME: that of the run in hand */
	__u64 code;
	__u64 code_type;
	__u64 word;  /* that was read last */
	__u64 taken; /* frames of the run in hand */
	/* A search for the thread's state (bpf/walk/python_thread.h). */
	__u64 fs;
	__u64 interpreter;
	__u64 state;
	__u64 strides;
	__u64 window_begin; /* user address of the first of these bytes */
	__u64 window_bytes;
	__u64 at; /* of the frame in hand, in the window */
	__u8 window[FT_PYTHON_WINDOW_BYTES + FT_PYTHON_FRAME_BYTES + 16];
	__u8 code_bytes[256];
	struct ft_function function;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct python_scratch);
} ft_python SEC(".maps");

/* Functions that were sent, by hashes that hold the epoch. A collision only sends one again. */
#define FT_FUNCTION_ENTRIES 16384

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_FUNCTION_ENTRIES);
	__type(key, __u32);
	__type(value, __u64);
} ft_functions SEC(".maps");

/* Reads a word of user memory, not by way of the stack, of which five calls have 512 bytes. */
static __always_inline __u64 word_at(struct python_scratch *python, const __u64 address)
{
	return bpf_probe_read_user(&python->word, 8, (void *)address) ? 0 : python->word;
}

/* The offsets are bounded where user space makes them; the masks are for the verifier. */
#define FT_FRAME_BYTE(python, offset) \
	((python)->window + ((python)->at & (FT_PYTHON_WINDOW_BYTES - 8)) + ((offset)&127))
#define FT_FRAME_WORD(python, offset) (*(__u64 *)FT_FRAME_BYTE(python, (offset)&120))
#define FT_CODE_WORD(python, offset) (*(__u64 *)((python)->code_bytes + ((offset)&248)))

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
					  struct python_scratch *python, __u32 cookie)
{
	struct ft_function *to = &python->function;
	struct ft_stack *head = &scratch->head;
	__u64 hash, lines, bytes, *sent, size = 0;
	__u32 slot;

	hash = mix(mix((__u64)head->tgid << 32 | head->epoch, head->start_ns ^ head->exec_id),
		   python->code ^ ((__u64)cookie << 32));
	slot = hash & (FT_FUNCTION_ENTRIES - 1);
	sent = bpf_map_lookup_elem(&ft_functions, &slot);
	if (!sent || *sent == hash)
		return;
	to->time_ns = head->time_ns;
	to->code = python->code;
	to->start_ns = head->start_ns;
	to->tgid = head->tgid;
	to->exec_id = head->exec_id;
	to->epoch = head->epoch;
	to->cookie = cookie;
	to->minor = python->build.minor;
	to->kind = FT_KIND_FUNCTION;
	to->runtime = FT_RUNTIME_PYTHON;
	to->first_line = *(__u32 *)(python->code_bytes + (python->build.code_first_line & 252));
	read_text(&to->name, FT_CODE_WORD(python, python->build.code_name), python->build.text);
	read_text(&to->file, FT_CODE_WORD(python, python->build.code_file), python->build.text);
	/* A bytes object: its size at 16, its bytes from 32 on. */
	lines = FT_CODE_WORD(python, python->build.code_lines);
	if (bpf_probe_read_user(&size, 8, (void *)(lines + 16)))
		size = 0;
	bytes = size < FT_FUNCTION_LINES ? size : FT_FUNCTION_LINES - 1;
	FT_MASKED(bytes, 1023);
	if (bpf_probe_read_user(to->lines, bytes, (void *)(lines + 32)))
		bytes = 0;
	to->lines_size = size > ~0u ? 0 : (__u32)size;
	to->lines_bytes = (__u32)bytes;
	FT_MASKED(bytes, 1023);
	if (!bpf_ringbuf_output(&ft_ring, to, __builtin_offsetof(struct ft_function, lines) + bytes,
				BPF_RB_NO_WAKEUP))
		*sent = hash;
}

#endif
