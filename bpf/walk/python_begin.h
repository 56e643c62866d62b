/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* How a walk that comes to code of CPython's finds the thread's frames. */
#ifndef FIRETOWER_BPF_WALK_PYTHON_BEGIN_H
#define FIRETOWER_BPF_WALK_PYTHON_BEGIN_H

#include <bpf/bpf_core_read.h>

#include "bpf/lib/kernel_types.h"
#include "bpf/walk/python.h"
#include "bpf/walk/python_thread.h"

/* Finds the newest frame of the thread with that state. Returns 0, or -1 if it has none. */
static __always_inline int open_chain(struct stack_scratch *scratch, struct python_scratch *python,
				      __u64 state)
{
	if (!state)
		return -1;
	python->record = word_at(python, state + python->build.thread_frame);
	python->frame = python->build.record_frame == FT_PYTHON_DIRECT ?
				python->record :
				word_at(python, python->record + python->build.record_frame);
	if (python->build.entry == FT_PYTHON_LOOP) {
		scratch->entry = scratch->walk.bias + python->build.loop;
		scratch->loop_bytes = python->build.loop_bytes;
	}
	return python->frame ? 0 : -1;
}

/* Goes on with the thread's frames, or without any; the caller that the last step found waits. */
static __always_inline int begin_chain(struct stack_scratch *scratch, struct python_scratch *python,
				       __u64 state)
{
	__u32 slot = scratch->head.kernel_frames + scratch->head.user_frames;

	scratch->chain = CHAIN_FRAMES;
	if (open_chain(scratch, python, state))
		scratch->chain = CHAIN_DONE;
	else if (!scratch->loop_bytes)
		return FT_STEP_CALLER;
	else if (slot && slot <= FT_MAX_FRAMES && is_loop(scratch, scratch->address[slot - 1]))
		return FT_STEP_CALLER;
	else
		scratch->chain = CHAIN_BELOW;
	return leave_frames(scratch);
}

/*
 * The walk came to code of the runtime: finds the thread's state, or begins a search for it. These
 * steps are global, as unwind_step() is, and each by itself, because five calls have 512 bytes of
 * stack.
 */
__attribute__((noinline)) int python_begin_step(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct python_scratch *python;
	struct stack_scratch *scratch;
	struct ft_slab slab = {};
	struct ft_python *build;
	__u64 runtime, state;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	python = bpf_map_lookup_elem(&ft_python, &zero);
	if (!scratch || !python)
		return FT_STEP_ENDED;
	build = ft_at(NULL, &slab, scratch->walk.module.runtime, sizeof(struct ft_python));
	if (!build || build->runtime_kind != FT_RUNTIME_PYTHON)
		return begin_chain(scratch, python, 0);
	python->build = *build;
	python->taken = 0;
	python->window_bytes = 0;
	python->fs = BPF_CORE_READ(task, thread.fsbase);
	runtime = scratch->walk.bias + python->build.runtime;
	python->code_type = scratch->walk.bias + python->build.code_type;
	state = state_by_key(python, runtime);
	if (!state)
		state = last_state(python);
	if (!state && !begin_search(python, runtime)) {
		scratch->chain = CHAIN_SEARCH;
		return FT_STEP_CALLER;
	}
	return begin_chain(scratch, python, state);
}

__attribute__((noinline)) int python_search_step(void)
{
	struct python_scratch *python;
	struct stack_scratch *scratch;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	python = bpf_map_lookup_elem(&ft_python, &zero);
	if (!scratch || !python)
		return FT_STEP_ENDED;
	if (!search_stride(python))
		return FT_STEP_CALLER;
	note_state(python);
	return begin_chain(scratch, python, python->state);
}

#endif
