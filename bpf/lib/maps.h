/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Maps that several program families use. They are weak, so that linking makes them one. */
#ifndef FIRETOWER_BPF_LIB_MAPS_H
#define FIRETOWER_BPF_LIB_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi/config.h"
#include "bpf/abi/counters.h"
#include "bpf/abi/record.h"

/* Resized before load. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 21);
} ft_ring __weak SEC(".maps");

/*
 * cgroup id -> verdict. Preallocated: before 6.1 perf_event programs may not use another kind
 * (kernel/bpf/verifier.c, check_map_prog_compatibility).
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FT_GATE_ENTRIES);
	__type(key, __u64);
	__type(value, struct ft_verdicts);
} ft_gate __weak SEC(".maps");

/*
 * By CPU; resized before load. Not a per-CPU map: finding the CPU's entry there takes two more
 * cache lines, and user space could not map it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ft_cpu);
} ft_cpus __weak SEC(".maps");

/* Written by user space through its memory mapping, because a bpf() call would suppress samples. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ft_config);
} ft_config __weak SEC(".maps");

const volatile struct ft_load_config load_config __weak = {
	.use_v2 = 1,
	.user_reads = 1,
	.thread_size = 16384,
	.wake_bytes = 1 << 19,
};

static __always_inline struct ft_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&ft_cpus, &cpu);
}

static __always_inline struct ft_counters *this_cpus_counters(void)
{
	struct ft_cpu *cpu = this_cpu();

	return cpu ? &cpu->counters : 0;
}

#define FT_COUNT(counters, name) ((counters)->value[FT_COUNT_##name]++)

#endif
