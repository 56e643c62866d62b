/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* How a walk that comes to code of CPython's finds the thread's frames. */
#ifndef FIRETOWER_BPF_WALK_PYTHON_BEGIN_H
#define FIRETOWER_BPF_WALK_PYTHON_BEGIN_H

#include <bpf/bpf_core_read.h>

#include "bpf/lib/kernel_types.h"
#include "bpf/walk/python/step.h"
#include "bpf/walk/python/thread.h"

/* Finds the newest frame of the thread with that state. Returns 0, or -1 if it has none. */
static __always_inline int open_chain(struct stack_scratch *scratch, struct chain_scratch *python,
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

/*
 * The walk came to code of the runtime: finds the thread's state, or begins a search for it. These
 * steps are global, as unwind_step() is, and each by itself, because five calls have 512 bytes of
 * stack.
 */
__attribute__((noinline)) int python_begin_step(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct chain_scratch *python;
	struct stack_scratch *scratch;
	struct ft_slab slab = {};
	struct ft_python *build;
	__u64 runtime, state;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	python = bpf_map_lookup_elem(&ft_chain, &zero);
	if (!scratch || !python)
		return FT_STEP_ENDED;
	build = ft_at(NULL, &slab, scratch->walk.module.runtime, sizeof(struct ft_python));
	if (build && build->runtime_kind >= FT_RUNTIME_PHP &&
	    build->runtime_kind <= FT_RUNTIME_PERL) {
		scratch->chain = CHAIN_BEGIN_PHP + build->runtime_kind - FT_RUNTIME_PHP;
		return FT_STEP_CALLER;
	}
	if (!build || build->runtime_kind != FT_RUNTIME_PYTHON)
		return enter_chain(scratch, 0);
	scratch->runtime = FT_RUNTIME_PYTHON;
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
	return enter_chain(scratch, !open_chain(scratch, python, state));
}

__attribute__((noinline)) int python_search_step(void)
{
	struct chain_scratch *python;
	struct stack_scratch *scratch;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	python = bpf_map_lookup_elem(&ft_chain, &zero);
	if (!scratch || !python)
		return FT_STEP_ENDED;
	if (!search_stride(python))
		return FT_STEP_CALLER;
	note_state(python);
	return enter_chain(scratch, !open_chain(scratch, python, python->state));
}

#endif
