/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The registers of a task's user side, while it is in the kernel. */
#ifndef FIRETOWER_BPF_LIB_USER_REGISTERS_H
#define FIRETOWER_BPF_LIB_USER_REGISTERS_H

#include <bpf/bpf_core_read.h>

#include "bpf/lib/kernel_types.h"
#include "bpf/lib/maps.h"

struct user_registers {
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u64 kernel_address; /* of the struct pt_regs they are from */
};

/*
 * Reads the registers of the task's user side as they were on entry to the kernel.
 * bpf_task_pt_regs exists from 5.15 on. On older kernels the registers lie at the stack's top;
 * later kernels put a gap there, so the sum would be wrong on them. Returns 0, or -1 if they
 * cannot be read.
 */
static __always_inline int entry_registers(struct task_struct *task, struct user_registers *out)
{
	struct pt_regs___kernel *regs;

	if (bpf_core_enum_value_exists(enum bpf_func_id___probe, BPF_FUNC_task_pt_regs___probe) &&
	    FT_HAS_TASK_BTF) {
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
	out->kernel_address = (__u64)regs;
	return out->ip ? 0 : -1;
}

/* Returns the registers of the system call that the task is in; NULL if they cannot be read. */
static __always_inline struct pt_regs___kernel *call_of(struct task_struct *task)
{
	struct user_registers regs = {};

	return entry_registers(task, &regs) ? NULL : (void *)regs.kernel_address;
}

#endif
