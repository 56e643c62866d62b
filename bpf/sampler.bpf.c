// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * The on-CPU sampler: one run for each tick of a CPU's cpu-clock event.
 *
 *   gate -> registers -> kernel stack -> user stack -> hash -> body (once) -> sample
 *
 * Scratch is this family's own: another program may be interrupted by a tick on the same CPU.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/lib/sample.h"
#include "bpf/lib/task_filter.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* 1: this tick is a sample, and *value says what it stands for. */
static __always_inline int gate(struct ft_config *config, struct task_struct *task,
				__u32 gate_version, __u64 *cgroup, __u64 *value,
				struct stack_scratch *scratch, struct ft_counters *counters)
{
	__u64 tick = scratch->tick++;
	struct ft_verdict *verdict;
	int undecided = 0;

	scratch->press = 0;
	verdict = wanted(FT_TYPE_CPU, config, task, gate_version, cgroup, &undecided, counters);
	if (!verdict)
		return 0;
	scratch->press = undecided;
	/* Evenly spread: tick n is kept when n * keep crosses a multiple of FT_KEEP_ALL. */
	if (verdict->keep < FT_KEEP_ALL &&
	    (tick * verdict->keep) / FT_KEEP_ALL == ((tick + 1) * verdict->keep) / FT_KEEP_ALL) {
		FT_COUNT(counters, THINNED);
		return 0;
	}
	*value = verdict->value;
	return 1;
}

static __always_inline void sample(struct bpf_perf_event_data *ctx, struct task_struct *task,
				   __u32 gate_version, struct ft_counters *counters)
{
	struct stack_scratch *scratch;
	struct ft_config *config;
	__u64 cgroup = 0, value = 0;
	__u32 zero = 0;
	int cold;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	config = bpf_map_lookup_elem(&ft_config, &zero);
	if (!scratch || !config)
		return;
	if (!gate(config, task, gate_version, &cgroup, &value, scratch, counters))
		return;
	identify(scratch, task, config);
	interrupted_kernel_stack(ctx, scratch, counters);
	cold = interrupted_user_stack(ctx, task, scratch, counters);
	send(FT_TYPE_CPU, cold, scratch, cgroup, value, counters);
}

SEC("perf_event")
int ft_sample_cpu(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = current_task();
	struct ft_counters *counters;
	struct ft_cpu *cpu = this_cpu();
	__u32 tid = FT_TASK(task, pid), gate_version;
	__u64 begin = 0;

	if (!cpu || !tid)
		return 0; /* idle, where exclude_idle was not honoured */
	counters = &cpu->counters;
	if (counters->value[FT_COUNT_RUNS]++ % FT_TIMED_EVERY == 0)
		begin = bpf_ktime_get_ns();
	gate_version = *(volatile __u32 *)&cpu->gate_version;
	if (still_left_out(task, tid, gate_version))
		FT_COUNT(counters, FILTERED);
	else
		sample(ctx, task, gate_version, counters);
	if (begin)
		counters->value[FT_COUNT_RUN_NS] += (bpf_ktime_get_ns() - begin) * FT_TIMED_EVERY;
	return 0;
}
