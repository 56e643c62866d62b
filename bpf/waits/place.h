/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Places where threads wait: what is known of their waits so far, and how often to look at one. */
#ifndef FIRETOWER_BPF_WAITS_PLACE_H
#define FIRETOWER_BPF_WAITS_PLACE_H

#include "bpf/lib/stack.h"
#include "bpf/waits/tables.h"

/* Longer waits count as long as this: about a second. */
#define FT_LONGEST_US (1 << 20)
/* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_FUTEX 202
#define FT_FIRST_US 4095

static __always_inline __u32 next_random(struct ft_offcpu_cpu *own)
{
	/* Marsaglia, "Xorshift RNGs" (2003): 64 bits, shifts 13, 7, 17. */
	__u64 x = own->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	own->random = x;
	return (__u32)(x >> 32);
}

/*
 * Identifies the place where the current task leaves its CPU: the system call at this address with
 * this stack pointer. Who is preempted does so anywhere.
 */
static __always_inline __u32 place_key(struct task_struct *prev, __u32 tid, int preempt)
{
	struct user_registers regs = {};
	__u64 key = mix(tid, preempt);

	if (preempt)
		return (__u32)(key >> 32) | 1;
	if (bpf_core_enum_value_exists(enum bpf_func_id___probe, BPF_FUNC_task_pt_regs___probe)) {
		/* The pointer's type is known: each field is one load. */
		struct pt_regs___kernel *known = (void *)bpf_task_pt_regs(prev);

		key = mix(mix(key, known->ip), known->sp);
		/* Each lock is a place, whoever takes it by the same call. */
		if (known->orig_ax == NR_FUTEX)
			key = mix(key, known->di);
	} else if (!entry_registers(prev, &regs)) {
		struct pt_regs___kernel *call = (void *)regs.kernel_address;

		key = mix(mix(key, regs.ip), regs.sp);
		if (BPF_CORE_READ(call, orig_ax) == NR_FUTEX)
			key = mix(key, BPF_CORE_READ(call, di));
	}
	return (__u32)(key >> 32) | 1;
}

static __always_inline struct ft_place *place_at(__u32 key)
{
	__u32 slot = key & (FT_PLACE_SLOTS - 1);

	return bpf_map_lookup_elem(&ft_places, &slot);
}

static __always_inline void forget_waits(struct ft_place *place)
{
	place->untold_ns = place->untold_runqueue_ns = place->untold_waits = 0;
}

/* Takes the slot of another place, whose waits that were not told yet are lost. */
static __always_inline void begin_place(struct ft_place *place, __u32 key)
{
	place->key = key;
	/* Nothing is known of waits at a new place, so the first counts as one that may last. */
	place->mean_us = FT_FIRST_US;
	place->min_ns = offcpu_config.min_wait_ns;
	forget_waits(place);
}

/* Sets what its container has told; of the waits so far nobody knows which those are. */
static __always_inline void set_shortest(struct ft_place *place, __u64 min_ns)
{
	if (place->min_ns == min_ns)
		return;
	place->min_ns = min_ns;
	forget_waits(place);
}

/*
 * The probability, of FT_KEEP_ALL, with which this switch is sampled: what the CPU's budget leaves,
 * and of that less for a place whose waits were short. It depends on what was before alone.
 */
static __always_inline __u32 share_of(struct ft_offcpu_cpu *own, struct ft_place *place, __u64 now)
{
	__u64 ahead = own->due_ns > now ? own->due_ns - now : 0;
	__u64 walks = ahead / offcpu_config.walk_ns, halvings;
	__u64 share = (__u64)FT_KEEP_ALL << 8;

	if (walks < FT_OFFCPU_BURST)
		return FT_KEEP_ALL;
	walks -= FT_OFFCPU_BURST;
	halvings = walks / FT_OFFCPU_HALVING;
	if (halvings > FT_OFFCPU_MAX_HALVINGS)
		halvings = FT_OFFCPU_MAX_HALVINGS;
	/* Between two powers of two on a line. */
	share = share * (2 * FT_OFFCPU_HALVING - walks % FT_OFFCPU_HALVING) /
		(2 * FT_OFFCPU_HALVING);
	/* Waits of 64 us count as they are; longer ones more, shorter ones less. */
	share = (share >> halvings) * (place->mean_us + 1) >> (6 + 8);
	if (share > FT_KEEP_ALL)
		return FT_KEEP_ALL;
	return share ? (__u32)share : 1;
}

/* The part of a wait that ends now in which its thread was woken, but had no CPU. */
static __always_inline __u64 runqueue_part(__u64 wake_ns, __u64 now)
{
	return wake_ns && wake_ns < now ? now - wake_ns : 0;
}

/* Notes a wait that ends now, whether or not it was sampled. */
static __always_inline void note_wait(struct ft_place *place, struct ft_thread *thread, __u64 now)
{
	/* Clocks of two CPUs may differ a little. */
	__u64 ns = now > thread->out_ns ? now - thread->out_ns : 0, us = ns >> 10;

	if (ns >= place->min_ns) {
		place->untold_ns += ns;
		place->untold_runqueue_ns += runqueue_part(thread->wake_ns, now);
		place->untold_waits++;
	}
	if (us > FT_LONGEST_US)
		us = FT_LONGEST_US;
	place->mean_us = (__u32)((3 * (__u64)place->mean_us + us) / 4);
}

#endif
