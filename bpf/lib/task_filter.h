/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Filters the tasks and CPUs of a cgroup that is sampled in part. */
#ifndef FIRETOWER_BPF_LIB_TASK_FILTER_H
#define FIRETOWER_BPF_LIB_TASK_FILTER_H

#include <bpf/bpf_core_read.h>

#include "bpf/abi/unwind.h"
#include "bpf/lib/cgroup.h"
#include "bpf/lib/kernel_types.h"
#include "bpf/lib/maps.h"

/* Both are written by user space through its memory mapping. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FT_TASK_SLOTS);
	__type(key, __u32);
	__type(value, struct ft_task);
} ft_tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FT_CPU_SETS);
	__type(key, __u32);
	__type(value, struct ft_cpu_set);
} ft_cpu_sets SEC(".maps");

static __always_inline int cpu_wanted(__u32 index)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ft_cpu_set *set = bpf_map_lookup_elem(&ft_cpu_sets, &index);

	return !set || (set->word[(cpu >> 6) & (FT_CPU_WORDS - 1)] >> (cpu & 63) & 1);
}

/* Reads a field by one instruction if the verifier allows it, else by a helper call. */
#define FT_TASK(task, field) (FT_HAS_TASK_BTF ? (task)->field : BPF_CORE_READ(task, field))

static __always_inline struct task_struct *current_task(void)
{
	if (FT_HAS_TASK_BTF)
		return (void *)bpf_get_current_task_btf();
	return (void *)bpf_get_current_task();
}

/*
 * For ticks. Returns 1 if the thread's last tick was dropped and nothing relevant has changed
 * since. Touches five cache lines, which are nearly its whole cost: the thread's slot and id, its
 * cgroups, its exec count, and the CPU's own data.
 */
static __always_inline int still_left_out(struct task_struct *task, __u32 tid, __u32 gate_version)
{
	__u32 slot = ft_task_slot(tid);
	struct ft_task *known = bpf_map_lookup_elem(&ft_tasks, &slot);

	return known && known->tid == tid && (known->left_out & (1u << FT_TYPE_CPU)) &&
	       known->gate_version == gate_version &&
	       known->exec_id == (__u32)FT_TASK(task, self_exec_id) &&
	       known->cgroups == (__u64)FT_TASK(task, cgroups);
}

/*
 * Returns the verdict on the current thread for a type; FT_VERDICT_PENDING if none is valid.
 * `gate_version` must be read before the verdict on the cgroup is looked up.
 */
static __always_inline __u32 task_verdict(const int type, struct task_struct *task, __u32 version,
					  __u32 gate_version)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), slot = ft_task_slot(tid);
	struct ft_task *known = bpf_map_lookup_elem(&ft_tasks, &slot);

	if (!known || known->tid != tid || known->version != version)
		return FT_VERDICT_PENDING;
	if (known->identity != ft_identity(BPF_CORE_READ(task, group_leader, start_time),
					   (__u32)BPF_CORE_READ(task, self_exec_id)))
		return FT_VERDICT_PENDING;
	if (!(known->left_out & (1u << type)))
		return FT_VERDICT_YES;
	/* It was dropped in another cgroup, which may have another filter: decide again. */
	if (known->gate_version && known->cgroups != (__u64)FT_TASK(task, cgroups))
		return FT_VERDICT_PENDING;
	if (type == FT_TYPE_CPU) {
		/*
		 * Another thread may have taken the slot meanwhile, so these fields must hold
		 * for it too.
		 */
		known->cgroups = (__u64)FT_TASK(task, cgroups);
		known->exec_id = (__u32)FT_TASK(task, self_exec_id);
		known->gate_version = gate_version;
	}
	return FT_VERDICT_NO;
}

/* 1: the verdict's filter leaves this tick out. Sets *undecided if only user space can tell. */
static __always_inline int filtered(const int type, struct ft_verdict *verdict,
				    struct ft_config *config, struct task_struct *task,
				    __u32 gate_version, int *undecided)
{
	__u32 kind;

	if (verdict->cpus && !cpu_wanted(verdict->cpus))
		return 1;
	if (!verdict->tasks)
		return 0;
	kind = task_verdict(type, task, config->tasks_version, gate_version);
	*undecided = kind == FT_VERDICT_PENDING;
	return kind == FT_VERDICT_NO;
}

/* The verdicts on the current task's cgroup, or those that it takes over from around it. */
struct ft_found {
	struct ft_verdicts *verdicts;
	__u64 cgroup; /* its id; 0 if that could not be read */
	int own;      /* 0: taken over */
};

static __always_inline void find_verdicts(struct ft_config *config, struct task_struct *task,
					  struct ft_found *found, struct ft_counters *counters)
{
	if (load_config.use_v2) {
		found->cgroup = bpf_get_current_cgroup_id();
	} else {
		struct cgroup *v1 = v1_cgroup(task);

		found->cgroup = v1 ? cgroup_id(v1) : 0;
	}
	if (!found->cgroup)
		FT_COUNT(counters, NO_CGROUP);
	found->verdicts = bpf_map_lookup_elem(&ft_gate, &found->cgroup);
	found->own = found->verdicts != NULL;
	if (found->verdicts)
		return;
	if (found->cgroup)
		found->verdicts =
			ancestor_verdicts(load_config.use_v2 ? v2_cgroup(task) : v1_cgroup(task));
	if (!found->verdicts)
		found->verdicts = &config->fallback;
}

/* 1: a type (enum ft_type, a constant) is not refused outright. */
static __always_inline int may_want(const int type, struct ft_found *found)
{
	struct ft_verdict *verdict = &found->verdicts->of[type];

	return (found->own ? verdict->kind : verdict->child) != FT_VERDICT_NO;
}

/*
 * Returns the verdict by which a type (enum ft_type, a constant) is wanted of the current task, or
 * NULL. Sets *undecided if only user space can tell.
 */
static __always_inline struct ft_verdict *judge(const int type, struct ft_found *found,
						struct ft_config *config, struct task_struct *task,
						__u32 gate_version, int *undecided,
						struct ft_counters *counters)
{
	struct ft_verdict *verdict = &found->verdicts->of[type];
	__u8 kind = found->own ? verdict->kind : verdict->child;

	if (kind == FT_VERDICT_NO) {
		FT_COUNT(counters, REFUSED);
		return NULL;
	}
	/* Newborns take the filter over from a container they are in, not from what is around it.
	 */
	if (kind == FT_VERDICT_YES &&
	    filtered(type, verdict, config, task, gate_version, undecided)) {
		FT_COUNT(counters, FILTERED);
		return NULL;
	}
	return verdict;
}

/* Both: finds the verdicts, and sets *cgroup to the cgroup's id. */
static __always_inline struct ft_verdict *wanted(const int type, struct ft_config *config,
						 struct task_struct *task, __u32 gate_version,
						 __u64 *cgroup, int *undecided,
						 struct ft_counters *counters)
{
	struct ft_found found;

	find_verdicts(config, task, &found, counters);
	*cgroup = found.cgroup;
	return judge(type, &found, config, task, gate_version, undecided, counters);
}

#endif
