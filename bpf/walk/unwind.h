/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Walks one step of a user stack, from a frame to its caller: by the row of the module's unwind
 * table, else by the frame pointer. The same code is compiled for the kernel and for user space,
 * which finishes the walks that the kernel side could not (docs/architecture.md, "Cold code").
 *
 * The including file defines, for an `env` of its choice:
 *   FT_SLAB(env, number)              that slab of the arena, or 0
 *   FT_IN_SLAB(env, slab, position, align)   pointer to the arena's bytes at `position`, which is
 *                                     in that slab, or 0; `align` is a power of two that the
 *                                     position is a multiple of
 *   FT_MODULE(env, slot)              struct ft_module *, or 0
 *   FT_READ_USER(env, to, size, address)   0, or an error if any byte is not resident; `size` is 8
 *                                     or 16
 *   FT_REGISTER(env, number, to)      the frame's register of that DWARF number; 0 or an error.
 *                                     Known for the leaf, and assumed unchanged in its caller: only
 *                                     assembly keeps its frame in such a register across calls, and
 *                                     its helpers keep the register (OpenSSL's AES-GCM)
 *   FT_STACK_START(env)               where the process's stack began (argc), or 0
 *   FT_CACHED_RULE(env, index)        struct ft_cached_rule * of that index, below FT_CACHED_RULES,
 *                                     which several may share; or 0
 */
#ifndef FIRETOWER_BPF_WALK_UNWIND_H
#define FIRETOWER_BPF_WALK_UNWIND_H

#include "bpf/walk/unwind_table.h"

/* The largest distance of the frame of main's caller from the process's first word of stack. */
#define FT_START_BYTES 128

/* Counts the steps (of 16) that lie before `behind`. */
static __always_inline __u32 ft_steps_before(__u32 steps, __u32 behind)
{
	if (behind < 16)
		steps &= (1u << behind) - 1;
	steps = steps - ((steps >> 1) & 0x5555);
	steps = (steps & 0x3333) + ((steps >> 2) & 0x3333);
	steps = (steps + (steps >> 4)) & 0x0f0f;
	return (steps + (steps >> 8)) & 0x1f;
}

static __always_inline int ft_cfa_of(void *env, struct ft_walk *walk, struct ft_rule *rule,
				     __u32 behind, __u64 *cfa)
{
	__u64 base;

	switch (rule->cfa) {
	case FT_CFA_SP:
		*cfa = walk->sp + (__s64)rule->cfa_offset;
		if (rule->steps) {
			__u64 moved = ft_steps_before(rule->steps, behind) * 8;

			*cfa += rule->flags & FT_RULE_POPS ? -moved : moved;
		}
		return 0;
	case FT_CFA_BP:
	case FT_CFA_BP_OTHER:
		*cfa = walk->bp + (__s64)rule->cfa_offset;
		return 0;
	case FT_CFA_PLT:
		*cfa = walk->sp + 8 + ((__s64)(walk->ip & 15) >= rule->extra ? 8 : 0);
		return 0;
	case FT_CFA_SP_AT:
		base = walk->sp;
		break;
	case FT_CFA_BP_AT:
		base = walk->bp;
		break;
	case FT_CFA_SP_INDEX_AT:
		if (FT_REGISTER(env, rule->reg, &base))
			return -1;
		base = walk->sp + base * 8;
		break;
	case FT_CFA_REG:
		if (FT_REGISTER(env, rule->reg, &base))
			return -1;
		*cfa = base + (__s64)rule->cfa_offset;
		return 0;
	default:
		return -1;
	}
	if (FT_READ_USER(env, cfa, 8, base + (__s64)rule->cfa_offset))
		return -1;
	if (!(rule->flags & FT_RULE_RA_SP))
		*cfa += (__s64)rule->extra;
	return 0;
}

struct ft_return {
	__u64 bp;
	__u64 ip;
};

/* Reads the caller's RBP and the return address of a frame whose CFA is known. */
static __always_inline int ft_read_return(void *env, struct ft_walk *walk, struct ft_rule *rule,
					  __u32 behind, __u64 cfa, struct ft_return *to)
{
	int saved = rule->flags & (FT_RULE_BP_CFA | FT_RULE_BP_SP | FT_RULE_BP_BP);
	int until = rule->flags & FT_RULE_BP_UNTIL ? 1 : 0;
	__u64 base = cfa;

	if (saved && (behind >= rule->bp_from) == until)
		saved = 0;
	/* Nearly every function that saves RBP pushes it first, so one read gets both. */
	if (saved == FT_RULE_BP_CFA && rule->bp_offset == -16 &&
	    !(rule->flags & (FT_RULE_RA_SP | FT_RULE_RA_REG)))
		return FT_READ_USER(env, to, 16, cfa - 16);
	to->bp = walk->bp;
	if (saved) {
		if (saved == FT_RULE_BP_SP)
			base = walk->sp;
		else if (saved == FT_RULE_BP_BP)
			base = walk->bp;
		if (FT_READ_USER(env, &to->bp, 8, base + (__s64)rule->bp_offset)) {
			/*
			 * Between the pop of RBP and the return, GCC's rule for a realigned
			 * frame still says that RBP points at the saved value. But RBP already
			 * has the caller's value.
			 */
			if (saved != FT_RULE_BP_BP || walk->returned)
				return -1;
			to->bp = walk->bp;
		}
	}
	if (rule->flags & FT_RULE_RA_REG)
		return walk->returned ? -1 : FT_REGISTER(env, rule->reg, &to->ip);
	if (rule->flags & FT_RULE_RA_SP)
		return FT_READ_USER(env, &to->ip, 8, walk->sp + (__s64)rule->extra);
	return FT_READ_USER(env, &to->ip, 8, cfa - 8);
}

static __always_inline int ft_end(struct ft_walk *walk, __u32 stop)
{
	walk->stop = stop;
	return FT_STEP_ENDED;
}

/* Finds the caller by the ABI's frame record: RBP points at {caller's RBP, return address}. */
static __always_inline int ft_step_frame_pointer(void *env, struct ft_walk *walk)
{
	struct ft_return record;

	/* Zero ends a chain of frame records; in interrupted code it may be any number. */
	if (!walk->bp)
		return ft_end(walk, walk->returned ? FT_STOP_ROOT : FT_STOP_FRAME_POINTER);
	/* A caller's frame lies above the stack pointer: anything else is a plain register. */
	if (walk->bp < walk->sp || (walk->bp & 7))
		return ft_end(walk, FT_STOP_FRAME_POINTER);
	if (FT_READ_USER(env, &record, 16, walk->bp))
		return ft_end(walk, FT_STOP_PAGE);
	if (!record.ip)
		return ft_end(walk, FT_STOP_ROOT);
	if (!ft_is_user_address(record.ip))
		return ft_end(walk, FT_STOP_RETURN);
	walk->sp = walk->bp + 16;
	walk->bp = record.bp;
	walk->ip = record.ip;
	walk->returned = 1;
	walk->guessed = 1;
	return FT_STEP_CALLER;
}

/*
 * Finds main's caller in a C library without call frame information (musl). The function that
 * its _start calls has its frame, with the return address, directly below the stack's first
 * word.
 */
static __always_inline int ft_step_start(void *env, struct ft_walk *walk)
{
	__u64 start = FT_STACK_START(env), ip;

	if (walk->sp >= start || start - walk->sp > FT_START_BYTES)
		return ft_end(walk, FT_STOP_FRAME_POINTER);
	if (FT_READ_USER(env, &ip, 8, start - 8) || ft_find_mapping(env, walk, ip - 1))
		return ft_end(walk, FT_STOP_FRAME_POINTER);
	walk->sp = start;
	walk->bp = 0;
	walk->ip = ip;
	walk->returned = 1;
	walk->guessed = 1;
	return FT_STEP_CALLER;
}

/* Handles code without a rule: by its frame pointer, or as the process's first function. */
static __always_inline int ft_step_without_rule(void *env, struct ft_walk *walk)
{
	int rule_before = walk->returned && !walk->guessed;
	int step = ft_step_frame_pointer(env, walk);

	if (step == FT_STEP_ENDED && walk->stop == FT_STOP_FRAME_POINTER && rule_before)
		return ft_step_start(env, walk);
	return step;
}

static __always_inline int ft_step_rule(void *env, struct ft_walk *walk, struct ft_rule *rule,
					__u32 behind)
{
	struct ft_return caller;
	__u64 cfa;

	if (rule->cfa == FT_CFA_ROOT)
		return ft_end(walk, FT_STOP_ROOT);
	if (ft_cfa_of(env, walk, rule, behind, &cfa) ||
	    ft_read_return(env, walk, rule, behind, cfa, &caller))
		return ft_end(walk, FT_STOP_PAGE);
	if (!caller.ip)
		return ft_end(walk, FT_STOP_ROOT);
	if (!ft_is_user_address(caller.ip))
		return ft_end(walk, FT_STOP_RETURN);
	/* Stacks grow down; only a signal's handler and Go's runtime run on another one. */
	if (cfa <= walk->sp && rule->cfa != FT_CFA_BP_OTHER &&
	    !(rule->flags & (FT_RULE_SIGNAL | FT_RULE_RA_REG)))
		return ft_end(walk, FT_STOP_FRAME_POINTER);
	walk->sp = cfa;
	walk->bp = caller.bp;
	walk->ip = caller.ip;
	walk->returned = rule->flags & FT_RULE_SIGNAL ? 0 : 1;
	walk->guessed = 0;
	return FT_STEP_CALLER;
}

/* Walks one step. The address of a caller is looked up one byte earlier, where its call is. */
static __always_inline int ft_step(void *env, struct ft_walk *walk)
{
	__u64 pc = walk->ip - walk->returned;
	struct ft_rule *rule;
	__u32 behind = 0;

	if ((pc < walk->begin || pc >= walk->end) && ft_find_mapping(env, walk, pc)) {
		walk->begin = walk->end = 0;
		/* A register that was no frame pointer may lead anywhere, a rule only to code. */
		return walk->guessed ? ft_end(walk, FT_STOP_RETURN) : FT_STEP_COLD;
	}
	if (walk->module.state == FT_MODULE_COLD)
		return FT_STEP_COLD;
	rule = walk->module.state == FT_MODULE_TABLE ?
		       ft_rule_at(env, walk, pc - walk->bias, &behind) :
		       0;
	if (!rule || rule->cfa == FT_CFA_NONE) {
		walk->machine_here = ft_machine_here(walk);
		return walk->machine_here ? FT_STEP_MACHINE : ft_step_without_rule(env, walk);
	}
	if (walk->returned && ft_is_trampoline(rule))
		walk->trampoline = 1;
	return ft_step_rule(env, walk, rule, behind);
}

#endif
