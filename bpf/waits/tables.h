/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The maps that only the off-CPU programs have. */
#ifndef FIRETOWER_BPF_WAITS_TABLES_H
#define FIRETOWER_BPF_WAITS_TABLES_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi/offcpu.h"

volatile struct ft_offcpu_config offcpu_config = {
	.min_wait_ns = 1000000,
	.walk_ns = 1000000,
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FT_WAITING_ENTRIES);
	__type(key, __u32);
	__type(value, struct ft_waiting);
} ft_waiting SEC(".maps");

/* How many entries of ft_waiting have that thread slot: a look here spares most looks there. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_THREAD_SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} ft_waiting_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_THREAD_SLOTS);
	__type(key, __u32);
	__type(value, struct ft_thread);
} ft_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_PLACE_SLOTS);
	__type(key, __u32);
	__type(value, struct ft_place);
} ft_places SEC(".maps");

/* By CPU; resized before load. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ft_offcpu_cpu);
} ft_offcpu_cpus SEC(".maps");

#define FT_OFFCPU_COUNT(own, name) ((own)->value[FT_OFFCPU_##name]++)

#endif
