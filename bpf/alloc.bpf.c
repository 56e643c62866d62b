// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * Samples of allocations: uprobes on the functions of a process's allocator.
 *
 *   its heap -> chosen by its bytes -> no part of another allocation -> gate -> user stack ->
 * sample
 *
 * One of `every` allocations of a size is a sample, and stands for all of them. `every` is a whole
 * number that is known before the choice, so the sums are right on average for any size.
 *
 * Where a heap's allocations in use are wanted as well, the functions' returns and those that free
 * are probed, too (bpf/lib/live_heap.h).
 *
 * Scratch is this family's own. From Linux 6.0 on a thread may lose its CPU in here, and another
 * one's allocation may find the scratch in use.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi/alloc.h"
#include "bpf/lib/live_heap.h"
#include "bpf/lib/sample.h"
#include "bpf/lib/task_filter.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FT_HEAPS);
	__type(key, __u32);
	__type(value, struct ft_heap);
} ft_heaps SEC(".maps");

/* By CPU; resized before load. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ft_alloc_cpu);
} ft_alloc_cpus SEC(".maps");

/* The CPUs whose scratch some thread is using; resized before load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u8);
} ft_entered SEC(".maps");

/*
 * The last call of a thread to a function that may call another one of its allocator, as realloc
 * calls malloc. Found at ft_task_slot() of the thread id; another thread may have replaced it.
 */
struct outer_call {
	__u32 tid;
	__u32 pad0;
	__u64 function;
	__u64 sp; /* where its return address lies */
	__u64 returns_to;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_TASK_SLOTS);
	__type(key, __u32);
	__type(value, struct outer_call);
} ft_outer_calls SEC(".maps");

/* An allocator calls its own functions from this near … */
#define FT_SAME_CODE (128 << 10)
/* … or from the code of the outer function, and its frames are small. */
#define FT_OUTER_CODE 4096
#define FT_OUTER_FRAMES 4096

struct call {
	__u64 function; /* its first instruction, where the probe is */
	__u64 sp;
	__u64 returns_to;
	__u64 size;
	__u64 result_at; /* as in struct awaited_call */
	__u32 live;      /* ft_heap's */
};

static __always_inline int is_near(__u64 one, __u64 other, __u64 bytes)
{
	return one - other < bytes || other - one < bytes;
}

/* 1: the outer call, if it is this thread's, has made this one and has not returned yet. */
static __always_inline int is_inner(struct call *call, struct outer_call *outer)
{
	__u64 returns_to = 0;

	if (outer->tid != (__u32)bpf_get_current_pid_tgid() || outer->function == call->function)
		return 0;
	/* By a jump: one place in the code calls one function. */
	if (call->sp == outer->sp)
		return call->returns_to == outer->returns_to;
	if (outer->sp - call->sp > FT_OUTER_FRAMES)
		return 0;
	if (!is_near(call->returns_to, call->function, FT_SAME_CODE) &&
	    call->returns_to - outer->function > FT_OUTER_CODE)
		return 0;
	/* The outer call's return address is still where it was. */
	if (bpf_probe_read_user(&returns_to, sizeof(returns_to), (void *)outer->sp))
		return 0;
	return returns_to == outer->returns_to ||
	       (call->live && probed_return_at(outer->sp, returns_to) == outer->returns_to);
}

static __always_inline void sample_call(struct call *call, __u64 every, struct ft_alloc_cpu *own)
{
	struct task_struct *task = current_task();
	struct user_registers regs = {};
	struct stack_scratch *scratch;
	struct ft_cpu *cpu = this_cpu();
	struct ft_config *config;
	__u64 cgroup = 0;
	__u32 zero = 0;
	int undecided = 0, cold = 0;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	config = bpf_map_lookup_elem(&ft_config, &zero);
	if (!scratch || !config || !cpu)
		return;
	if (!wanted(FT_TYPE_MEMORY, config, task, *(volatile __u32 *)&cpu->gate_version, &cgroup,
		    &undecided, &own->counters))
		return;
	scratch->press = undecided;
	identify(scratch, task, config);
	scratch->head.kernel_frames = 0;
	if (!no_user_stack(task, scratch, &own->counters)) {
		if (entry_registers(task, &regs)) {
			scratch->head.stop = FT_STOP_PAGE;
			FT_COUNT(&own->counters, NO_REGISTERS);
		} else {
			/* The breakpoint left it behind itself. */
			regs.ip = call->function;
			cold = walk_from_entry(&regs, call->returns_to, scratch);
		}
	}
	send(FT_TYPE_MEMORY, cold, scratch, cgroup, ft_allocations(every, call->size),
	     &own->counters);
	if (call->live)
		await_result(scratch->head.time_ns, call->sp, call->result_at);
}

static __always_inline void take_call(struct call *call, __u64 every)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ft_alloc_cpu *own = bpf_map_lookup_elem(&ft_alloc_cpus, &cpu);
	__u64 begin_ns;
	__u8 yes = 1;

	if (!own)
		return;
	/* Only one can add the entry. Linux 5.10 has no exchange in memory. */
	if (bpf_map_update_elem(&ft_entered, &cpu, &yes, BPF_NOEXIST)) {
		own->missed++;
		return;
	}
	begin_ns = bpf_ktime_get_ns();
	sample_call(call, every, own);
	own->counters.value[FT_COUNT_RUNS]++;
	own->counters.value[FT_COUNT_RUN_NS] += bpf_ktime_get_ns() - begin_ns;
	bpf_map_delete_elem(&ft_entered, &cpu);
}

/* Returns of how many allocations of that size one is a sample, at most FT_ALLOC_EVERY_MOST. */
static __always_inline __u64 one_of(__u64 sample_bytes, __u64 size)
{
	__u64 every = sample_bytes / size;

	if (every > FT_ALLOC_EVERY_MOST)
		return FT_ALLOC_EVERY_MOST;
	return every ? every : 1;
}

static __always_inline struct ft_heap *this_heap(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct ft_heap *heap = bpf_map_lookup_elem(&ft_heaps, &tgid);

	if (heap)
		__sync_fetch_and_add(&heap->calls, 1);
	return heap;
}

/* Returns where the call returns to, or 0. */
static __always_inline __u64 return_of(const struct call *call)
{
	__u64 word = 0, probed;

	if (bpf_probe_read_user(&word, sizeof(word), (void *)call->sp))
		return 0;
	/* A function that jumps to another one has its return probed already. */
	probed = call->live ? probed_return_at(call->sp, word) : 0;
	return probed ? probed : word;
}

/*
 * `wraps`, a constant: the function may call another one of its allocator. `result_at`: as in
 * struct awaited_call.
 */
static __always_inline int allocates(struct pt_regs *ctx, struct ft_heap *heap, __u64 size,
				     __u64 result_at, const int wraps)
{
	__u32 slot;
	struct outer_call *outer;
	struct call call = {};
	__u64 every;
	int chosen;

	if (!heap)
		return 0;
	/* realloc to nothing frees; nothing larger can be had. */
	if (!size || size > FT_ALLOC_BYTES_MOST)
		return 0;
	every = one_of(heap->sample_bytes, size);
	chosen = every == 1 || !((__u64)bpf_get_prandom_u32() * every >> 32);
	if (!chosen && !wraps)
		return 0;
	call.function = ctx->rip;
	call.sp = ctx->rsp;
	call.size = size;
	call.result_at = result_at;
	call.live = heap->live;
	call.returns_to = return_of(&call);
	slot = ft_task_slot((__u32)bpf_get_current_pid_tgid());
	outer = bpf_map_lookup_elem(&ft_outer_calls, &slot);
	if (!outer || is_inner(&call, outer))
		return 0;
	if (wraps) {
		outer->tid = (__u32)bpf_get_current_pid_tgid();
		outer->function = call.function;
		outer->sp = call.sp;
		outer->returns_to = call.returns_to;
	}
	if (chosen)
		take_call(&call, every);
	return 0;
}

static __always_inline __u64 product(__u64 count, __u64 size)
{
	return !count || size > FT_ALLOC_BYTES_MOST / count ? 0 : count * size;
}

/* One program for each place in which functions have the size. */

SEC("uprobe")
int ft_malloc(struct pt_regs *ctx)
{
	return allocates(ctx, this_heap(), ctx->rdi, 0, 0);
}

SEC("uprobe")
int ft_alloc_first(struct pt_regs *ctx)
{
	return allocates(ctx, this_heap(), ctx->rdi, 0, 1);
}

/* realloc also frees its first argument, which of the others is a number that no address is. */
SEC("uprobe")
int ft_alloc_second(struct pt_regs *ctx)
{
	struct ft_heap *heap = this_heap();

	if (heap && heap->live)
		end_live(heap->live, ctx->rdi);
	return allocates(ctx, heap, ctx->rsi, 0, 1);
}

/* posix_memalign alone. */
SEC("uprobe")
int ft_alloc_third(struct pt_regs *ctx)
{
	return allocates(ctx, this_heap(), ctx->rdx, ctx->rdi, 1);
}

SEC("uprobe")
int ft_alloc_product(struct pt_regs *ctx)
{
	return allocates(ctx, this_heap(), product(ctx->rdi, ctx->rsi), 0, 1);
}

/* reallocarray alone. */
SEC("uprobe")
int ft_alloc_last_product(struct pt_regs *ctx)
{
	struct ft_heap *heap = this_heap();

	if (heap && heap->live)
		end_live(heap->live, ctx->rdi);
	return allocates(ctx, heap, product(ctx->rsi, ctx->rdx), 0, 1);
}

/* On the return of each of those functions. */
SEC("uprobe")
int ft_alloc_returns(struct pt_regs *ctx)
{
	struct ft_heap *heap = this_heap();

	/* The return address is off the stack already. */
	if (heap && heap->live)
		take_result(heap->live, ctx->rsp - 8, ctx->rax);
	return 0;
}

/* On functions that free their first argument. */
SEC("uprobe")
int ft_frees(struct pt_regs *ctx)
{
	struct ft_heap *heap = this_heap();

	if (heap && heap->live)
		end_live(heap->live, ctx->rdi);
	return 0;
}
