/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Frames of HotSpot's code cache in a walk on the kernel side. */
#ifndef FIRETOWER_BPF_WALK_HOTSPOT_FRAMES_H
#define FIRETOWER_BPF_WALK_HOTSPOT_FRAMES_H

#include "bpf/walk/machine_frames.h"

#include "bpf/walk/hotspot/step.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hotspot_walk);
} ft_hotspot SEC(".maps");

/* Walks one step from code of the code cache. Global, as unwind_step() is. */
__attribute__((noinline)) int hotspot_step(void)
{
	struct stack_scratch *scratch;
	struct hotspot_walk *h;
	struct ft_slab slab = {};
	struct ft_hotspot *vm;
	__u32 zero = 0;
	int step;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	h = bpf_map_lookup_elem(&ft_hotspot, &zero);
	if (!scratch || !h)
		return FT_STEP_ENDED;
	if (!scratch->machine_loaded) {
		vm = ft_at(NULL, &slab, scratch->walk.machine, sizeof(struct ft_hotspot));
		if (!vm)
			return FT_STEP_ENDED;
		h->vm = *vm;
		scratch->machine_loaded = 1;
	}
	step = ft_hotspot_step(scratch, &scratch->walk, h);
	return keep_words(scratch, h->word, h->where, 0, 0, step);
}

#endif
