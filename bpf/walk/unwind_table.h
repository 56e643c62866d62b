/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Finds the mapping of an address, and the unwind rule for it. The including file defines
 * FT_SLAB, FT_IN_SLAB, FT_MODULE and FT_CACHED_RULE: see bpf/walk/unwind.h.
 */
#ifndef FIRETOWER_BPF_WALK_UNWIND_TABLE_H
#define FIRETOWER_BPF_WALK_UNWIND_TABLE_H

#include "bpf/walk/walk_state.h"

/*
 * The searches keep their bounds in memory, where the verifier does not track their values. So
 * each turn of a loop starts in the same verifier state as the turn before, and is checked only
 * once.
 */
#define FT_BOUND(field) (*(volatile __u32 *)&walk->field)

/*
 * The arena slab that was looked up last; a lookup costs two map lookups. The data of one search
 * lies together, mostly in one slab.
 */
struct ft_slab {
	void *bytes;
	__u32 number;
};

/* Returns the pointer to `position` in the arena, or 0. */
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
 * Loads the mapping that holds `pc` into the walk. Returns 0, or -1 if no mapping does. A
 * range counts as code without a table only if user space said so.
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
		start = (__u64 *)ft_at(env, &slab, walk->mappings + FT_START_AT(middle), 8);
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
	start = (__u64 *)ft_at(env, &slab, walk->mappings + FT_START_AT(found), 8);
	mapping = (struct ft_mapping *)ft_at(env, &slab,
					     walk->mappings + (__u32)FT_STARTS_BYTES(count) +
						     found * (__u32)sizeof(*mapping),
					     32);
	if (!start || !mapping || pc < *start || pc >= mapping->end)
		return -1;
	walk->begin = *start;
	walk->mapped = mapping->module;
	walk->end = mapping->end;
	walk->bias = mapping->bias;
	module = FT_MODULE(env, walk->mapped);
	if (!module)
		return -1;
	/*
	 * User space writes this field last, so it is read first: once it is set, the other
	 * fields are valid.
	 */
	state = *(volatile __u32 *)&module->state;
	/*
	 * Read before the table itself, so that rules of one table are never cached under the
	 * number of a later one.
	 */
	serial = *(volatile __u32 *)&module->serial;
	FT_COMPILER_BARRIER();
	walk->module = *module;
	walk->module.state = state;
	walk->module.serial = serial;
	return 0;
}

/*
 * Returns the rule for an offset in the current module, or 0 where the table has none. Sets
 * *behind to the number of bytes from the rule's row to the offset, at most one block.
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
	 * The last row at or before the offset. It may be in an earlier block and still apply.
	 * The packer lets no row's steps pass the end of its block.
	 */
	last = FT_BOUND(low);
	row = last ? (__u32 *)ft_at(env, &slab, walk->module.rows + (last - 1) * 4, 4) : 0;
	if (!row)
		return 0;
	return (struct ft_rule *)ft_at(
		env, &slab, walk->module.rules + FT_ROW_RULE(*row) * (__u32)sizeof(struct ft_rule),
		16);
}

/*
 * Like ft_find_rule, with a cache of recent rules. An offset without a rule is searched again
 * each time.
 */
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
 * Tells whether this code is the return address of a signal handler, so that the kernel's frame
 * with the registers is on the stack. The functions that Go's runtime makes interrupted code
 * call have no such frame: they return like any other function.
 */
static __always_inline int ft_is_trampoline(struct ft_rule *rule)
{
	__u32 both = FT_RULE_SIGNAL | FT_RULE_RA_SP;

	return (rule->flags & both) == both;
}

#endif
