/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The maps with processes' mappings and modules' unwind tables (bpf/abi/unwind.h). */
#ifndef FIRETOWER_BPF_WALK_USER_TABLES_H
#define FIRETOWER_BPF_WALK_USER_TABLES_H

#include "bpf/abi/unwind.h"
#include "bpf/lib/maps.h"
#include "bpf/walk/walk_state.h"

struct slab_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, FT_SLAB_BYTES);
};

/* User space fills this map as the arena grows, up to its budget. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, FT_MAX_SLABS);
	__uint(key_size, sizeof(__u32));
	__array(values, struct slab_map);
} ft_slabs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FT_MAX_MODULES);
	__type(key, __u32);
	__type(value, struct ft_module);
} ft_modules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FT_PROCESS_BUCKETS);
	__type(key, __u32);
	__type(value, struct ft_process_bucket);
} ft_processes SEC(".maps");

struct rule_cache {
	struct ft_cached_rule rule[FT_CACHED_RULES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rule_cache);
} ft_rules SEC(".maps");

static __always_inline struct ft_cached_rule *cached_rule(__u32 index)
{
	__u32 zero = 0;
	struct rule_cache *cache = bpf_map_lookup_elem(&ft_rules, &zero);

	return cache ? &cache->rule[index & (FT_CACHED_RULES - 1)] : NULL;
}

static __always_inline void *slab_at(__u32 slab)
{
	void *map = bpf_map_lookup_elem(&ft_slabs, &slab);
	__u32 zero = 0;

	return map ? bpf_map_lookup_elem(map, &zero) : NULL;
}

static __always_inline struct ft_module *module_at(__u32 slot)
{
	return bpf_map_lookup_elem(&ft_modules, &slot);
}

#endif
