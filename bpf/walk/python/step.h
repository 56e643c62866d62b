/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * CPython's frames. From 3.11 on each run of its loop has an entry record on its own C stack, so
 * the native frame that encloses the record's address is the loop's; before, each native frame of
 * the loop runs one frame: docs/adr/0033-interpreters-in-the-walk.md.
 */
#ifndef FIRETOWER_BPF_WALK_PYTHON_STEP_H
#define FIRETOWER_BPF_WALK_PYTHON_STEP_H

#include "bpf/walk/python/function.h"

/* Stores the frame in hand. Returns 0, or -1 if there is no room. */
static __always_inline int keep_frame(struct stack_scratch *scratch, struct chain_scratch *python)
{
	__u64 hash, position;
	__u32 cookie = 0;

	/* Lower bits are tags, from 3.14 on. */
	python->code = FT_FRAME_WORD(python, python->build.frame_code) & ~7ULL;
	if (!bpf_probe_read_user(python->code_bytes, FT_PYTHON_CODE_BYTES, (void *)python->code)) {
		if (FT_CODE_WORD(python, 8) == python->code_type) {
			hash = mix(FT_CODE_WORD(python, python->build.code_file),
				   FT_CODE_WORD(python, python->build.code_name));
			hash = mix(hash, FT_CODE_WORD(python, python->build.code_lines));
			cookie = (__u32)(hash >> 8) | 1;
			send_function(scratch, python, cookie);
		} else if (!scratch->loop_bytes) {
			/* None, as in 3.13's records, or another object: it has no name. */
			return 0;
		}
	}
	position = FT_FRAME_WORD(python, python->build.frame_instruction);
	/* Before 3.11 it is an index of 32 bits, of what user space knows by the version. */
	if (python->build.entry != FT_PYTHON_LOOP)
		position -= python->code + python->build.code_start;
	if (keep_word(scratch, FT_WORD_FRAME | (python->code & ~FT_WORD_KIND)))
		return -1;
	python->taken++;
	return keep_word(scratch, (__u64)cookie << 32 | (__u32)position);
}

/*
 * Takes the frame in hand, of a build whose runs have entry records. 1: it was the last of its run,
 * or is the record.
 */
static __always_inline int take_recorded(struct stack_scratch *scratch,
					 struct chain_scratch *python, __u64 frame, int *full)
{
	__u8 owner = *FT_FRAME_BYTE(python, python->build.frame_owner);

	if (python->build.entry == FT_PYTHON_SHIM) {
		if (owner < python->build.owner_entry) {
			*full = keep_frame(scratch, python);
			return 0;
		}
		/* The root of a thread's frames, from 3.15 on, is a record as well: of no run. */
		if (!python->taken)
			return 0;
		scratch->entry = frame;
	} else {
		*full = keep_frame(scratch, python);
		if (!owner)
			return 0;
		scratch->entry = python->record;
		/* {flags, current_frame, previous} */
		python->record = word_at(python, python->record + 16);
	}
	python->taken = 0;
	return 1;
}

/*
 * Takes the frame in hand, which the loop that the walk has left was running. A loop without one is
 * told as well, once: the frames of the others are those of their neighbours then.
 */
static __always_inline int take_loop(struct stack_scratch *scratch, struct chain_scratch *python)
{
	int full = keep_frame(scratch, python);

	if (scratch->chain_ended)
		return full;
	return full || keep_word(scratch, FT_WORD_JOIN);
}

/* Takes the next frame. 1: the run's frames are through; scratch->chain says what is next. */
static __always_inline int next_frame(struct stack_scratch *scratch, struct chain_scratch *python,
				      int *full)
{
	__u64 frame = python->frame;

	if (!frame) {
		if (scratch->loop_bytes && !scratch->chain_ended)
			*full = keep_word(scratch, FT_WORD_JOIN);
		scratch->chain = CHAIN_DONE;
		return 1;
	}
	/* Frames of FT_PYTHON_LOOP are objects by themselves. */
	if (read_frame(python, frame, python->build.frame_bytes,
		       python->build.entry != FT_PYTHON_LOOP)) {
		scratch->chain = CHAIN_BROKEN;
		return 1;
	}
	python->frame = FT_FRAME_WORD(python, python->build.frame_previous);
	if (scratch->loop_bytes) {
		*full = take_loop(scratch, python);
		if (scratch->chain_ended)
			return 0;
		scratch->chain = CHAIN_BELOW;
		return 1;
	}
	if (!take_recorded(scratch, python, frame, full))
		return 0;
	scratch->chain = scratch->chain_ended ? CHAIN_FRAMES : CHAIN_BELOW;
	return 1;
}

/* Takes one frame of the chain. */
__attribute__((noinline)) int python_step(void)
{
	struct chain_scratch *python;
	struct stack_scratch *scratch;
	__u32 zero = 0;
	int full = 0, through;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	python = bpf_map_lookup_elem(&ft_chain, &zero);
	if (!scratch || !python)
		return FT_STEP_ENDED;
	through = next_frame(scratch, python, &full);
	return end_turn(scratch, through, full);
}

#endif
