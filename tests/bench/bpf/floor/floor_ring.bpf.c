// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * The yardstick of sampling cost: the least that brings both stacks to user space. The kernel's own
 * helpers walk them, one record goes up for each tick, nobody is woken, nothing is counted.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "tests/bench/bpf/floor/floor_ring.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 21); /* as large as the sampler's */
} floor_ring SEC(".maps");

struct floor_scratch {
	struct floor_record head;
	__u64 address[2 * FLOOR_MAX_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct floor_scratch);
} floor_scratch SEC(".maps");

SEC("perf_event")
int floor_sample(struct bpf_perf_event_data *ctx)
{
	struct floor_scratch *scratch;
	long kernel = 0, user;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&floor_scratch, &zero);
	if (!scratch)
		return 0;
	/* A tick in user mode has no kernel part: to ask for it would be a dear way to learn that.
	 */
	if ((ctx->regs.cs & 3) != 3)
		kernel = bpf_get_stack(ctx, scratch->address, FLOOR_MAX_FRAMES * 8, 0);
	if (kernel < 0 || kernel > FLOOR_MAX_FRAMES * 8)
		kernel = 0;
	user = bpf_get_stack(ctx, (void *)scratch->address + kernel, FLOOR_MAX_FRAMES * 8,
			     BPF_F_USER_STACK);
	if (user < 0 || user > FLOOR_MAX_FRAMES * 8)
		user = 0;
	scratch->head.time_ns = bpf_ktime_get_ns();
	scratch->head.tgid_tid = bpf_get_current_pid_tgid();
	scratch->head.kernel_bytes = kernel;
	scratch->head.user_bytes = user;
	bpf_ringbuf_output(&floor_ring, scratch, sizeof(scratch->head) + kernel + user,
			   BPF_RB_NO_WAKEUP);
	return 0;
}
