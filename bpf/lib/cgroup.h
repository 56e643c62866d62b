/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Finds the current task's cgroup and the verdicts on a cgroup. */
#ifndef FIRETOWER_BPF_LIB_CGROUP_H
#define FIRETOWER_BPF_LIB_CGROUP_H

#include <bpf/bpf_core_read.h>

#include "bpf/lib/kernel_types.h"
#include "bpf/lib/maps.h"

/*
 * Returns the controller's index in css_set, which depends on the kernel's configuration. Values
 * that this kernel lacks are never read: the verifier removes the branches that were not chosen.
 */
static __always_inline __u64 v1_subsystem(void)
{
#define FT_PLACE(name)                                         \
	if (load_config.v1_controller == FT_CONTROLLER_##name) \
		return bpf_core_enum_value(enum cgroup_subsys_id, name##_cgrp_id);
	FT_CONTROLLERS(FT_PLACE)
#undef FT_PLACE
	return 0;
}

/* Returns the task's cgroup in the chosen v1 hierarchy; NULL if a read failed. */
static __always_inline struct cgroup *v1_cgroup(struct task_struct *task)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *css = NULL;
	__u64 slot = (__u64)set + bpf_core_field_offset(struct css_set, subsys) +
		     v1_subsystem() * sizeof(void *);

	if (bpf_probe_read_kernel(&css, sizeof(css), (void *)slot) || !css)
		return NULL;
	return BPF_CORE_READ(css, cgroup);
}

/*
 * The task's cgroup in the v2 hierarchy, for walking up; the id itself comes from the helper.
 * css_set has it as dfl_cgrp.
 */
struct css_set___v2 {
	struct cgroup *dfl_cgrp;
} __attribute__((preserve_access_index));

static __always_inline struct cgroup *v2_cgroup(struct task_struct *task)
{
	struct css_set___v2 *set = (void *)BPF_CORE_READ(task, cgroups);

	return BPF_CORE_READ(set, dfl_cgrp);
}

static __always_inline __u64 cgroup_id(struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, kn, id);
}

static __always_inline struct cgroup *cgroup_parent(struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, self.parent, cgroup);
}

/*
 * Returns the verdicts on the nearest ancestor that has them, else NULL. The ids are inodes on
 * 64-bit kernels.
 */
static __always_inline struct ft_verdicts *ancestor_verdicts(struct cgroup *cgroup)
{
	for (int level = 0; level < FT_MAX_LEVELS; level++) {
		struct ft_verdicts *verdicts;
		__u64 id;

		cgroup = cgroup_parent(cgroup);
		if (!cgroup)
			return NULL;
		id = cgroup_id(cgroup);
		verdicts = bpf_map_lookup_elem(&ft_gate, &id);
		if (verdicts)
			return verdicts;
	}
	return NULL;
}

#endif
