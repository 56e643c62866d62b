// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * Samples of one event: a perf event with its period, or a tracepoint. Loaded once for each event
 * that a policy names.
 *
 *   gate -> kernel stack -> user stack -> body (once) -> sample of the events since the last one
 *
 * Scratch is each load's own. A counter of the CPU interrupts everything else, but not itself; what
 * is traced may also happen in an interrupt, so a tracepoint's program looks whether it is at work.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi/event.h"
#include "bpf/lib/sample.h"
#include "bpf/lib/task_filter.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct ft_event_load_config event_load_config = {
	.syscall = -1,
};

volatile struct ft_event_config event_config = {
	.period = 1,
};

/* By CPU; resized before load. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ft_event_cpu);
} ft_event_cpus SEC(".maps");

/* 1: this task is sampled. The scratch is then its identity. */
static __always_inline int begin(struct task_struct *task, struct stack_scratch *scratch,
				 __u64 *cgroup, struct ft_counters *counters)
{
	__u32 zero = 0, slot = event_load_config.slot;
	struct ft_cpu *cpu = this_cpu();
	struct ft_config *config = bpf_map_lookup_elem(&ft_config, &zero);
	int undecided = 0;

	if (!cpu || !config || slot >= FT_MAX_EVENTS)
		return 0;
	if (!wanted(FT_TYPE_EVENT + slot, config, task, *(volatile __u32 *)&cpu->gate_version,
		    cgroup, &undecided, counters))
		return 0;
	scratch->press = undecided;
	identify(scratch, task, config);
	return 1;
}

static __always_inline struct ft_event_cpu *own_data(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&ft_event_cpus, &cpu);
}

/* The time that the program takes, by every 16th run; 0: this one is not timed. */
static __always_inline __u64 begin_timing(struct ft_counters *counters)
{
	return counters->value[FT_COUNT_RUNS]++ % FT_TIMED_EVERY ? 0 : bpf_ktime_get_ns();
}

static __always_inline void end_timing(struct ft_counters *counters, __u64 begin_ns)
{
	if (begin_ns)
		counters->value[FT_COUNT_RUN_NS] +=
			(bpf_ktime_get_ns() - begin_ns) * FT_TIMED_EVERY;
}

/*
 * Chooses how many events there are until the next sample, from the rate since the last one: half
 * as many to one and a half times as many as keep the frequency. Never by time alone: of two
 * threads that take turns, the next event after a moment is mostly the one's after the longer
 * pause. And never the same number again, with which a program that repeats itself could keep step.
 */
static __always_inline void choose_target(struct ft_event_cpu *own, __u64 count, __u64 now)
{
	__u64 took = now - own->sampled_ns, mean;

	if (count > FT_EVENT_MOST)
		count = FT_EVENT_MOST;
	if (took > FT_EVENT_PATIENCE * event_config.interval_ns)
		took = FT_EVENT_PATIENCE * event_config.interval_ns;
	/* Sums in which the past fades; each by itself, because the mean of quotients is too high.
	 */
	own->counts += count - own->counts / 8;
	own->took_ns += took - own->took_ns / 8;
	mean = own->counts * event_config.interval_ns / (own->took_ns | 1);
	own->target = mean / 2 + (mean * (bpf_get_prandom_u32() & 1023) >> 10);
	own->sampled_ns = now;
}

/* 1: so many events since the last sample are enough for another one. */
static __always_inline int keeps_frequency(struct ft_event_cpu *own, __u64 count)
{
	__u64 now = bpf_ktime_get_ns();

	if (count < own->target &&
	    now - own->sampled_ns < FT_EVENT_PATIENCE * event_config.interval_ns)
		return 0;
	choose_target(own, count, now);
	return 1;
}

/*
 * Returns the events of this CPU that this one stands for; 0: it is no sample. A sample's own
 * period is not it: the kernel's estimate of a software event's period overshoots without bound
 * when its rate is high, so those have a short fixed one.
 */
static __always_inline __u64 events_since(struct bpf_perf_event_data *ctx, struct ft_event_cpu *own)
{
	struct bpf_perf_event_value value = {};
	__u64 count;

	if (bpf_perf_prog_read_value(ctx, &value, sizeof(value)))
		return ctx->sample_period;
	/* It may have been opened anew. */
	count = value.counter > own->count ? value.counter - own->count : value.counter;
	if (event_config.interval_ns && !keeps_frequency(own, count))
		return 0;
	own->count = value.counter;
	return count;
}

SEC("perf_event")
int ft_sample_event(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = current_task();
	struct ft_event_cpu *own = own_data();
	struct stack_scratch *scratch;
	__u64 cgroup = 0, begin_ns, count;
	__u32 zero = 0;
	int cold;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	if (!own || !scratch)
		return 0;
	if (!FT_TASK(task, pid))
		return 0;
	begin_ns = begin_timing(&own->counters);
	count = events_since(ctx, own);
	if (count && begin(task, scratch, &cgroup, &own->counters)) {
		interrupted_kernel_stack(ctx, scratch, &own->counters);
		cold = interrupted_user_stack(ctx, task, scratch, &own->counters);
		send(FT_TYPE_EVENT + event_load_config.slot, cold, scratch, cgroup, count,
		     &own->counters);
	}
	end_timing(&own->counters, begin_ns);
	return 0;
}

/* Returns the occurrences that this one stands for; 0: it is no sample. */
static __always_inline __u64 due(struct ft_event_cpu *own)
{
	__u64 count = ++own->unsampled;

	if (!event_config.interval_ns) {
		if (count < event_config.period)
			return 0;
	} else {
		if (count < own->target && count & (FT_EVENT_LOOK - 1))
			return 0;
		if (!keeps_frequency(own, count))
			return 0;
	}
	own->unsampled = 0;
	return count;
}

static __always_inline void trace(void *ctx, struct ft_event_cpu *own)
{
	struct task_struct *task = current_task();
	struct stack_scratch *scratch;
	struct user_registers regs = {};
	__u64 cgroup = 0, count;
	__u32 zero = 0;
	int cold = 0;
	long bytes;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	if (!scratch)
		return;
	count = due(own);
	if (!count || !begin(task, scratch, &cgroup, &own->counters))
		return;
	scratch->head.kernel_frames = 0;
	bytes = bpf_get_stack(ctx, scratch->address, FT_MAX_KERNEL_FRAMES * 8, 0);
	if (bytes > 0)
		take_kernel_frames(scratch, bytes);
	else
		FT_COUNT(&own->counters, KERNEL_STACK);
	if (!no_user_stack(task, scratch, &own->counters)) {
		if (entry_registers(task, &regs)) {
			scratch->head.stop = FT_STOP_PAGE;
			FT_COUNT(&own->counters, NO_REGISTERS);
		} else {
			cold = walk_from(&regs, scratch);
		}
	}
	send(FT_TYPE_EVENT + event_load_config.slot, cold, scratch, cgroup, count, &own->counters);
}

/* 1: the tracepoint is one of all system calls, and this is not the one that is meant. */
static __always_inline int other_call(struct task_struct *task)
{
	struct pt_regs___kernel *call;

	if (event_load_config.syscall < 0)
		return 0;
	call = call_of(task);
	return !call || (__s32)BPF_CORE_READ(call, orig_ax) != event_load_config.syscall;
}

SEC("raw_tracepoint")
int ft_sample_tracepoint(void *ctx)
{
	struct task_struct *task = current_task();
	struct ft_event_cpu *own = own_data();
	__u64 begin_ns;

	if (!own || !(__u32)bpf_get_current_pid_tgid() || other_call(task))
		return 0;
	if (own->busy) {
		own->unsampled++;
		own->missed++;
		return 0;
	}
	own->busy = 1;
	begin_ns = begin_timing(&own->counters);
	trace(ctx, own);
	end_timing(&own->counters, begin_ns);
	own->busy = 0;
	return 0;
}
