/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Frames of V8's code in a walk on the kernel side. */
#ifndef FIRETOWER_BPF_WALK_V8_FRAMES_H
#define FIRETOWER_BPF_WALK_V8_FRAMES_H

#include "bpf/walk/machine_frames.h"
#include "bpf/walk/v8/step.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct v8_walk);
} ft_v8 SEC(".maps");

/* Walks one step from V8's code. Global, as unwind_step() is. */
__attribute__((noinline)) int v8_step(void)
{
	struct stack_scratch *scratch;
	struct ft_slab slab = {};
	struct v8_walk *v;
	struct ft_v8 *vm;
	__u32 zero = 0;
	int step;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	v = bpf_map_lookup_elem(&ft_v8, &zero);
	if (!scratch || !v)
		return FT_STEP_ENDED;
	if (!scratch->machine_loaded) {
		vm = ft_at(NULL, &slab, scratch->walk.machine, sizeof(struct ft_v8));
		if (!vm)
			return FT_STEP_ENDED;
		v->vm = *vm;
		v->window_bytes = 0;
		scratch->machine_loaded = 1;
	}
	step = ft_v8_step(scratch, &scratch->walk, v);
	if (v->word)
		return keep_words(scratch, v->word, v->where, v->code, v->feedback, step);
	return keep_address(scratch, step);
}

#endif
