/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * From an address to its mapping and from there to its rule. Who includes this gives FT_SLAB,
 * FT_IN_SLAB, FT_MODULE and FT_CACHED_RULE: see bpf/lib/unwind.h.
 */
#ifndef FIRETOWER_BPF_LIB_UNWIND_TABLE_H
#define FIRETOWER_BPF_LIB_UNWIND_TABLE_H

#include "bpf/lib/walk_state.h"

/*
 * The searches keep their bounds in memory, which the verifier knows nothing of: each turn of a
 * loop is then in the state of the one before, and is checked once.
 */
#define FT_BOUND(field) (*(volatile __u32 *)&walk->field)

/*
 * The slab of the arena that was looked up last: two lookups of maps. What a search reads lies
 * together, mostly in one.
 */
struct ft_slab {
	void *bytes;
	__u32 number;
};

/* What is at `position`, or 0. */
static __always_inline void *ft_at(void *env, struct ft_slab *slab, __u32 position, __u32 align)
{
	__u32 number = position >> FT_SLAB_SHIFT;

	if (!slab->bytes || slab->number != number) {
		slab->bytes = FT_SLAB(env, number);
		slab->number = number;
		if (!slab->bytes)
			return 0;
	}
	return FT_IN_SLAB(env, slab->bytes, position, align);
}

/*
 * Puts the mapping that holds `pc` in hand. Returns 0, or -1 if none does. Any range reads as code
 * without a table only if user space said so.
 */
static __always_inline int ft_find_mapping(void *env, struct ft_walk *walk, __u64 pc)
{
	__u32 count = walk->mapping_count, found, state, serial;
	struct ft_slab slab = {};
	struct ft_mapping *mapping;
	struct ft_module *module;
	__u64 *start;

	FT_BOUND(low) = 0;
	FT_BOUND(high) = count;
	for (int i = 0; i < FT_MAPPING_STEPS; i++) {
		__u32 low = FT_BOUND(low), high = FT_BOUND(high), middle = (low + high) / 2;

		if (low >= high)
			break;
		start = (__u64 *)ft_at(env, &slab, walk->mappings + 8 + middle * 8, 8);
		if (!start)
			return -1;
		if (*start <= pc)
			FT_BOUND(low) = middle + 1;
		else
			FT_BOUND(high) = middle;
	}
	found = FT_BOUND(low);
	if (!found)
		return -1;
	found--;
	start = (__u64 *)ft_at(env, &slab, walk->mappings + 8 + found * 8, 8);
	mapping = (struct ft_mapping *)ft_at(env, &slab,
					     walk->mappings + (__u32)FT_STARTS_BYTES(count) +
						     found * (__u32)sizeof(*mapping),
					     32);
	if (!start || !mapping || pc < *start || pc >= mapping->end)
		return -1;
	module = FT_MODULE(env, mapping->module);
	if (!module)
		return -1;
	walk->begin = *start;
	walk->end = mapping->end;
	walk->bias = mapping->bias;
	/* Written last by user space, so read first: once it says so, the rest is there. */
	state = *(volatile __u32 *)&module->state;
	/* Before what it stands for: rules of a table are never kept under a later one's number. */
	serial = *(volatile __u32 *)&module->serial;
	FT_COMPILER_BARRIER();
	walk->module = *module;
	walk->module.state = state;
	walk->module.serial = serial;
	return 0;
}

/*
 * The rule for an offset of the module in hand, and in *behind the bytes from its row to there, at
 * most one block. 0 where the table says nothing.
 */
static __always_inline struct ft_rule *ft_find_rule(void *env, struct ft_walk *walk, __u64 offset,
						    __u32 *behind)
{
	__u64 block = (offset >> FT_BLOCK_SHIFT) - walk->module.first_block;
	__u32 in_block = (__u32)offset & (FT_BLOCK_BYTES - 1);
	struct ft_slab slab = {};
	__u32 *row, *next, last;

	if (block >= walk->module.block_count)
		return 0;
	row = (__u32 *)ft_at(env, &slab, walk->module.blocks + (__u32)block * 4, 4);
	next = (__u32 *)ft_at(env, &slab, walk->module.blocks + (__u32)block * 4 + 4, 4);
	if (!row || !next)
		return 0;
	FT_BOUND(low) = *row;
	FT_BOUND(high) = *next;
	*behind = FT_BLOCK_BYTES;
	for (int i = 0; i < FT_BLOCK_SHIFT + 1; i++) {
		__u32 low = FT_BOUND(low), high = FT_BOUND(high), middle = (low + high) / 2;

		if (low >= high)
			break;
		row = (__u32 *)ft_at(env, &slab, walk->module.rows + middle * 4, 4);
		if (!row)
			return 0;
		if (FT_ROW_OFFSET(*row) <= in_block) {
			*behind = in_block - FT_ROW_OFFSET(*row);
			FT_BOUND(low) = middle + 1;
		} else {
			FT_BOUND(high) = middle;
		}
	}
	/*
	 * The last row not behind the offset; it may be an earlier block's, which holds on. The
	 * packer lets no row's steps pass the end of its block.
	 */
	last = FT_BOUND(low);
	row = last ? (__u32 *)ft_at(env, &slab, walk->module.rows + (last - 1) * 4, 4) : 0;
	if (!row)
		return 0;
	return (struct ft_rule *)ft_at(
		env, &slab, walk->module.rules + FT_ROW_RULE(*row) * (__u32)sizeof(struct ft_rule),
		16);
}

/* The same, by the rules found lately. What is in no table is looked for each time. */
static __always_inline struct ft_rule *ft_rule_at(void *env, struct ft_walk *walk, __u64 offset,
						  __u32 *behind)
{
	__u32 serial = walk->module.serial;
	struct ft_cached_rule *cached =
		(struct ft_cached_rule *)FT_CACHED_RULE(env, ft_cached_rule_index(offset, serial));
	struct ft_rule *rule;

	if (cached && cached->offset == offset && cached->serial == serial) {
		*behind = cached->behind;
		return &cached->rule;
	}
	rule = ft_find_rule(env, walk, offset, behind);
	if (!rule || !cached)
		return rule;
	cached->offset = offset;
	cached->serial = serial;
	cached->behind = *behind;
	cached->rule = *rule;
	return &cached->rule;
}

/*
 * Where a handler returns to, the kernel's frame with the registers is on the stack. The functions
 * that Go's runtime makes interrupted code call have none: they return as others do.
 */
static __always_inline int ft_is_trampoline(struct ft_rule *rule)
{
	__u32 both = FT_RULE_SIGNAL | FT_RULE_RA_SP;

	return (rule->flags & both) == both;
}

#endif
