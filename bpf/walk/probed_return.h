/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Callers of functions whose return somebody has a probe on (a uretprobe: bpftrace, perf probe,
 * memleak). The kernel puts the address of a trampoline where the return address was, and keeps
 * that in a list of the thread's (kernel/events/uprobes.c, prepare_uretprobe()).
 */
#ifndef FIRETOWER_BPF_WALK_PROBED_RETURN_H
#define FIRETOWER_BPF_WALK_PROBED_RETURN_H

#include "bpf/walk/user_walk.h"

/* The most probed functions that are looked through; the kernel itself ends at 64. */
#define FT_MOST_PROBED_RETURNS 64

/*
 * Returns the return address that was in the word of stack at `slot`, or 0: it is none that is
 * probed. Global, so that the verifier checks it once.
 */
__attribute__((noinline)) __u64 probed_return_at(__u64 slot, __u64 trampoline)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct return_instance *instance;

	if (!bpf_core_field_exists(task->utask))
		return 0;
	instance = BPF_CORE_READ(task, utask, return_instances);
	for (int i = 0; i < FT_MOST_PROBED_RETURNS && instance; i++) {
		/* With several probes on a function only the first one has its return address. */
		if (BPF_CORE_READ(instance, stack) == slot &&
		    BPF_CORE_READ(instance, orig_ret_vaddr) != trampoline)
			return BPF_CORE_READ(instance, orig_ret_vaddr);
		instance = BPF_CORE_READ(instance, next);
	}
	return 0;
}

/*
 * If the walk stands at a trampoline, outside of all mappings, sets it to the caller. Returns 1 if
 * it did. Global for the same reason.
 */
__attribute__((noinline)) int probed_return(void)
{
	struct stack_scratch *scratch;
	struct ft_walk *walk;
	__u32 zero = 0, slot;
	__u64 address, *kept;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	if (!scratch)
		return 0;
	walk = &scratch->walk;
	slot = next_slot(scratch);
	if (walk->end || !walk->returned || !slot || slot >= FT_MAX_FRAMES)
		return 0;
	kept = &scratch->address[slot];
	address = probed_return_at(walk->sp - 8, walk->ip);
	if (kept[-1] != walk->ip || !ft_is_user_address(address))
		return 0;
	kept[-1] = address;
	scratch->head.stack_hash = mix(scratch->head.stack_hash, address);
	walk->ip = address;
	walk->guessed = 0;
	return 1;
}

#endif
