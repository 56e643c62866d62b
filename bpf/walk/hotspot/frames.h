/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Frames of HotSpot's code cache in a walk on the kernel side. */
#ifndef FIRETOWER_BPF_WALK_HOTSPOT_FRAMES_H
#define FIRETOWER_BPF_WALK_HOTSPOT_FRAMES_H

#include "bpf/walk/user_walk.h"

#define FT_READ_FRAME(env, to, size, address) FT_PROBE_USER(to, size, address)
#define FT_READ_FAR(env, to, size, address) FT_PROBE_USER(to, size, address)

#include "bpf/walk/hotspot/step.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hotspot_walk);
} ft_hotspot SEC(".maps");

/* Stores the frame in hand in place of its address, and its caller's address. Returns `step`. */
static __always_inline int keep_java(struct stack_scratch *scratch, struct hotspot_walk *h,
				     int step)
{
	__u32 slot = scratch->head.kernel_frames + scratch->head.user_frames;
	__u64 hash = mix(mix(scratch->head.stack_hash, h->word), h->where);
	__u64 *to;

	/* Older verifiers do not learn of a number from a comparison of its sum. */
	if (slot < 1 || slot > FT_MAX_FRAMES - 2 ||
	    scratch->head.user_frames > FT_MAX_USER_FRAMES - 2) {
		scratch->walk.stop = FT_STOP_DEPTH;
		return FT_STEP_ENDED;
	}
	to = &scratch->address[slot];
	to[-1] = h->word;
	to[0] = h->where;
	scratch->head.user_frames++;
	if (step == FT_STEP_CALLER) {
		to[1] = scratch->walk.ip;
		scratch->head.user_frames++;
		hash = mix(hash, scratch->walk.ip);
	}
	scratch->head.stack_hash = hash;
	return step;
}

/* Walks one step from code of the code cache. Global, as unwind_step() is. */
__attribute__((noinline)) int hotspot_step(void)
{
	struct stack_scratch *scratch;
	struct hotspot_walk *h;
	struct ft_slab slab = {};
	struct ft_hotspot *vm;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	h = bpf_map_lookup_elem(&ft_hotspot, &zero);
	if (!scratch || !h)
		return FT_STEP_ENDED;
	if (!scratch->hotspot_loaded) {
		vm = ft_at(NULL, &slab, scratch->walk.hotspot, sizeof(struct ft_hotspot));
		if (!vm)
			return FT_STEP_ENDED;
		h->vm = *vm;
		scratch->hotspot_loaded = 1;
	}
	return keep_java(scratch, h, ft_hotspot_step(scratch, &scratch->walk, h));
}

#endif
