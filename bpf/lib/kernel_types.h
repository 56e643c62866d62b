/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The kernel's fields that we read, relocated by the running kernel's BTF at load (CO-RE). Names
 * matter; field order and gaps do not. Tests check them on 5.10 to 7.2.
 */
#ifndef FIRETOWER_BPF_LIB_KERNEL_TYPES_H
#define FIRETOWER_BPF_LIB_KERNEL_TYPES_H

#include <linux/types.h>

#include "bpf/abi/config.h"

/* Only the names matter; the values come from the running kernel (bpf_core_enum_value). */
enum cgroup_subsys_id {
#define FT_SUBSYSTEM(name) name##_cgrp_id,
	FT_CONTROLLERS(FT_SUBSYSTEM)
#undef FT_SUBSYSTEM
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
};

struct mm_struct {
	__u64 start_stack;
};

struct thread_struct {
	unsigned long fsbase;
};

struct return_instance {
	unsigned long stack;
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct task_struct {
	struct thread_struct thread;
	unsigned int flags;
	unsigned int in_execve : 1;
	int pid;
	int tgid;
	__u64 start_time;
	__u64 self_exec_id;
	void *stack;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct css_set *cgroups;
	struct uprobe_task *utask;
};

/* The kernel's own names of the registers; the uapi header's struct pt_regs uses others. */
struct pt_regs___kernel {
	unsigned long bp;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
	unsigned long di;
	unsigned long si;
	unsigned long dx;
	unsigned long orig_ax;
};

#pragma clang attribute pop

/* include/linux/sched.h */
#define PF_IO_WORKER 0x00000010
#define PF_USER_WORKER 0x00004000
#define PF_KTHREAD 0x00200000

enum bpf_func_id___probe {
	BPF_FUNC_task_pt_regs___probe = 175,
	BPF_FUNC_get_current_task_btf___probe = 158,
};

/* From 5.11 on the verifier knows the type of the pointer to the current task. */
#define FT_HAS_TASK_BTF \
	bpf_core_enum_value_exists(enum bpf_func_id___probe, BPF_FUNC_get_current_task_btf___probe)

#endif
