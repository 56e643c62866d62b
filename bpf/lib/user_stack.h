/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The user part of a stack, by our own walk with bounded nofault reads; never by the kernel's
 * user-callchain code.
 */
#ifndef FIRETOWER_BPF_LIB_USER_STACK_H
#define FIRETOWER_BPF_LIB_USER_STACK_H

#include <bpf/bpf_core_read.h>

#include "bpf/lib/kernel_types.h"
#include "bpf/lib/maps.h"

/* arch/x86/include/asm/page_64_types.h: user space ends below this with five-level paging too. */
#define FT_USER_END 0x00ffffffffffffffULL
#define FT_USER_BEGIN 0x1000ULL

struct user_registers {
	__u64 ip;
	__u64 sp;
	__u64 bp;
};

/*
 * Registers of the task's user side as they were on entry to the kernel. bpf_task_pt_regs exists
 * from 5.15; before, the registers lie at the stack's top (later kernels put a gap there, so the
 * sum is wrong on them). Returns 0, or -1 if they cannot be read.
 */
static __always_inline int entry_registers(struct task_struct *task, struct user_registers *out)
{
	struct pt_regs___kernel *regs;

	if (bpf_core_enum_value_exists(enum bpf_func_id___probe, BPF_FUNC_task_pt_regs___probe) &&
	    bpf_core_enum_value_exists(enum bpf_func_id___probe,
				       BPF_FUNC_get_current_task_btf___probe)) {
		regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	} else {
		__u64 stack = (__u64)BPF_CORE_READ(task, stack);

		if (!stack)
			return -1;
		regs = (void *)(stack + load_config.thread_size -
				bpf_core_type_size(struct pt_regs___kernel));
	}
	out->ip = BPF_CORE_READ(regs, ip);
	out->sp = BPF_CORE_READ(regs, sp);
	out->bp = BPF_CORE_READ(regs, bp);
	return out->ip ? 0 : -1;
}

static __always_inline int is_user_address(__u64 address)
{
	return address >= FT_USER_BEGIN && address <= FT_USER_END;
}

#endif
