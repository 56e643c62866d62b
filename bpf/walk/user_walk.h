/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Walks one step of a user stack on the kernel side: bpf/walk/unwind.h over our maps, with bounded
 * nofault reads. It never uses the kernel's user-callchain code.
 */
#ifndef FIRETOWER_BPF_WALK_USER_WALK_H
#define FIRETOWER_BPF_WALK_USER_WALK_H

#include <bpf/bpf_core_read.h>

#include "bpf/lib/kernel_types.h"
#include "bpf/lib/scratch.h"
#include "bpf/walk/chain.h"
#include "bpf/walk/user_tables.h"

#define FT_PROBE_USER(to, size, address) bpf_probe_read_user(to, size, (void *)(address))

#include "bpf/walk/user_stack.h"

static __always_inline int read_user(struct stack_scratch *scratch, void *to, __u32 size,
				     __u64 address)
{
	return read_user_stack(&scratch->window, to, size, address);
}

static __always_inline int register_at(struct stack_scratch *scratch, __u32 number, __u64 *to)
{
	/*
	 * A function that a signal interrupted made no call, so the registers are not the
	 * handler's.
	 */
	if (!scratch->registers || scratch->head.user_frames > 1 + scratch->walk.returned)
		return -1;
	if (number == 7 || number > 15)
		return -1;
	return bpf_probe_read_kernel(to, 8,
				     (void *)(scratch->registers + FT_REGISTER_SLOT(number) * 8));
}

static __always_inline __u64 stack_start(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, mm, start_stack);
}

#define FT_SLAB(env, number) slab_at(number)
#define FT_IN_SLAB(env, slab, position, align) \
	((__u8 *)(slab) + ((position) & (FT_SLAB_BYTES - 1) & ~((align)-1)))
#define FT_MODULE(env, slot) module_at(slot)
#define FT_READ_USER(env, to, size, address) read_user(env, to, size, address)
#define FT_REGISTER(env, number, to) register_at(env, number, to)
#define FT_STACK_START(env) stack_start()
#define FT_CACHED_RULE(env, index) cached_rule(index)

#include "bpf/walk/unwind.h"

static __always_inline void find_machine(struct ft_walk *walk)
{
	struct ft_slab slab = {};
	struct ft_machine *machine = ft_at(NULL, &slab, walk->machine, sizeof(struct ft_machine));

	if (machine)
		ft_set_machine(walk, machine);
}

/*
 * Loads the process's list of mappings into the walk. Returns 0, or -1 if user space has not
 * sent one.
 */
static __always_inline int find_process(struct stack_scratch *scratch, __u32 tgid, __u32 identity)
{
	struct ft_walk *walk = &scratch->walk;
	struct ft_slab slab = {};
	struct ft_space *space;

	for (__u32 choice = 0; choice < 2; choice++) {
		__u32 index = ft_bucket(tgid, choice);
		struct ft_process_bucket *bucket = bpf_map_lookup_elem(&ft_processes, &index);

		if (!bucket)
			return -1;
		for (int i = 0; i < FT_PROCESS_WAYS; i++) {
			if (bucket->way[i].tgid != tgid || bucket->way[i].identity != identity)
				continue;
			walk->machine = bucket->way[i].machine;
			if (walk->machine)
				find_machine(walk);
			walk->mappings = bucket->way[i].mappings;
			space = ft_at(NULL, &slab, walk->mappings, sizeof(*space));
			if (!space)
				return -1;
			walk->mapping_count = space->count;
			scratch->trace_offset = space->trace_offset;
			scratch->trace_module = space->trace_module;
			scratch->trace_kind = space->trace_kind;
			scratch->dtv_bytes = space->dtv_bytes;
			return 0;
		}
	}
	return -1;
}

/*
 * Stores the address of the step's caller, if there is one, unless frames of an interpreter are
 * next. Returns `step`, or that the walk goes on.
 */
static __always_inline int keep_caller(struct stack_scratch *scratch, __u32 slot, int step)
{
	/*
	 * Readers subtract one from an address to find the call; an interrupted frame made no
	 * call.
	 */
	__u64 address = scratch->walk.ip + !scratch->walk.returned;
	__u64 *to = &scratch->address[slot];

	/*
	 * The trampoline's frame is already stored in the slot before. The stack hash keeps its
	 * old address, which does no harm.
	 */
	if (scratch->walk.trampoline) {
		scratch->walk.trampoline = 0;
		to[-1]++;
	}
	if (step == FT_STEP_CALLER && scratch->chain == CHAIN_BELOW &&
	    leaves_out(scratch, to[-1], address)) {
		to[-1] = address;
		return step;
	}
	if (meets_chain(scratch, step, to[-1])) {
		if (scratch->chain == CHAIN_BELOW) {
			scratch->chain = CHAIN_FRAMES;
			address = FT_WORD_JOIN;
		} else {
			return FT_STEP_CALLER;
		}
	} else if (step != FT_STEP_CALLER) {
		return step;
	}
	*to = address;
	scratch->head.user_frames++;
	scratch->head.stack_hash = mix(scratch->head.stack_hash, address);
	return step;
}

/* Returns the slot of the next frame: FT_MAX_FRAMES or more if there is no room left. */
static __always_inline __u32 next_slot(struct stack_scratch *scratch)
{
	if (scratch->head.user_frames >= FT_MAX_USER_FRAMES)
		return FT_MAX_FRAMES;
	return scratch->head.kernel_frames + scratch->head.user_frames;
}

/*
 * Walks one step and returns its enum ft_step. Global, not static, so that the verifier checks
 * it once instead of once for each frame.
 */
__attribute__((noinline)) int unwind_step(void)
{
	struct stack_scratch *scratch;
	__u32 zero = 0, slot;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	if (!scratch)
		return FT_STEP_ENDED;
	slot = next_slot(scratch);
	if (slot >= FT_MAX_FRAMES)
		return FT_STEP_ENDED;
	return keep_caller(scratch, slot, ft_step(scratch, &scratch->walk));
}

#endif
