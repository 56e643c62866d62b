/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Sampled allocations from their result to their end. A sample is sent when its function is called;
 * it is known by its time and thread. Its address is known when the function returns.
 */
#ifndef FIRETOWER_BPF_LIB_LIVE_HEAP_H
#define FIRETOWER_BPF_LIB_LIVE_HEAP_H

#include "bpf/abi/alloc.h"
#include "bpf/lib/maps.h"

struct live_sample {
	__u64 time_ns;
	__u32 tid;
	__u32 pad0;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FT_LIVE);
	__type(key, struct ft_live_key);
	__type(value, struct live_sample);
} ft_live SEC(".maps");

/*
 * The sampled call of a thread that has not returned yet. Found at ft_task_slot() of the thread id;
 * another thread may have replaced it.
 */
struct awaited_call {
	struct live_sample sample; /* time_ns 0: there is none */
	__u64 sp;                  /* where its return address lies */
	__u64 result_at;           /* where it leaves the address; 0: it returns that */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_TASK_SLOTS);
	__type(key, __u32);
	__type(value, struct awaited_call);
} ft_awaited_calls SEC(".maps");

/* Returns 0, or -1: the ring is full. */
static __always_inline int send_freed(const struct live_sample *sample, __u8 why)
{
	struct ft_freed *freed = bpf_ringbuf_reserve(&ft_ring, sizeof(*freed), 0);

	if (!freed)
		return -1;
	freed->time_ns = bpf_ktime_get_ns();
	freed->sample_ns = sample->time_ns;
	freed->pad0 = 0;
	freed->pad1 = 0;
	freed->tgid = bpf_get_current_pid_tgid() >> 32;
	freed->tid = sample->tid;
	freed->pad2 = 0;
	freed->kind = FT_KIND_FREED;
	freed->why = why;
	freed->pad3 = 0;
	bpf_ringbuf_submit(freed, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline struct awaited_call *awaited_call(void)
{
	__u32 slot = ft_task_slot((__u32)bpf_get_current_pid_tgid());

	return bpf_map_lookup_elem(&ft_awaited_calls, &slot);
}

/* Follows the sample that this thread has just sent. */
static __always_inline void await_result(__u64 time_ns, __u64 sp, __u64 result_at)
{
	struct awaited_call *call = awaited_call();

	if (!call)
		return;
	/* It never returned: an exception, a jump out of it; or it is another thread's. */
	if (call->sample.time_ns)
		send_freed(&call->sample, FT_FREED_UNSEEN);
	call->sample.time_ns = time_ns;
	call->sample.tid = (__u32)bpf_get_current_pid_tgid();
	call->sp = sp;
	call->result_at = result_at;
}

/*
 * Ends a sampled allocation at an address, if there is one. One that finds no room in the ring
 * stays: it ends when that address is freed the next time.
 */
static __always_inline void end_live(__u32 heap, __u64 address)
{
	struct ft_live_key key = { .address = address, .heap = heap };
	struct live_sample *found, sample;

	found = address ? bpf_map_lookup_elem(&ft_live, &key) : 0;
	if (!found)
		return;
	sample = *found;
	if (!send_freed(&sample, FT_FREED))
		bpf_map_delete_elem(&ft_live, &key);
}

/* Notes the address of the allocation that this thread awaits, when a function of it returns. */
static __always_inline void take_result(__u32 heap, __u64 sp, __u64 result)
{
	struct awaited_call *call = awaited_call();
	struct ft_live_key key = { .heap = heap };
	struct live_sample sample;

	if (!call || !call->sample.time_ns || call->sp != sp ||
	    call->sample.tid != (__u32)bpf_get_current_pid_tgid())
		return;
	sample = call->sample;
	call->sample.time_ns = 0;
	key.address = result;
	/* posix_memalign(3): 0, and the address is where it was told. */
	if (call->result_at && (result || bpf_probe_read_user(&key.address, sizeof(key.address),
							      (void *)call->result_at)))
		key.address = 0;
	if (!key.address) {
		send_freed(&sample, FT_FREED_NEVER);
		return;
	}
	end_live(heap, key.address);
	if (bpf_map_update_elem(&ft_live, &key, &sample, BPF_ANY))
		send_freed(&sample, FT_FREED_UNSEEN);
}

#endif
