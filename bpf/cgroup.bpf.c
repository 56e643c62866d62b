// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * Births, deaths and renames of cgroups. A newborn gets its nearest known ancestor's verdict here,
 * in the kernel, before a task can run in it: a container of a few milliseconds is sampled.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lib/cgroup.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A tick may interrupt these programs, never they one another on one CPU with this scratch. */
struct event_scratch {
	struct ft_cgroup_event head;
	char path[FT_CGROUP_PATH_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct event_scratch);
} ft_cg_scratch SEC(".maps");

static __always_inline int ours(struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, root, hierarchy_id) == (int)load_config.hierarchy_id;
}

static __always_inline void tell(struct cgroup *cgroup, const char *path, __u8 change,
				 struct ft_counters *counters)
{
	struct event_scratch *scratch;
	__u32 zero = 0;
	long bytes;

	scratch = bpf_map_lookup_elem(&ft_cg_scratch, &zero);
	if (!scratch)
		return;
	scratch->head.time_ns = bpf_ktime_get_ns();
	scratch->head.cgroup_id = cgroup_id(cgroup);
	scratch->head.kind = FT_KIND_CGROUP;
	scratch->head.change = change;
	bytes = bpf_probe_read_kernel_str(scratch->path, sizeof(scratch->path), path);
	/* The count includes the terminator; a full buffer means the path was cut. */
	scratch->head.path_cut = bytes == sizeof(scratch->path);
	bytes = bytes > 0 ? bytes - 1 : 0;
	if (bytes > FT_CGROUP_PATH_BYTES - 1)
		bytes = FT_CGROUP_PATH_BYTES - 1;
	scratch->head.path_bytes = bytes;
	FT_COUNT(counters, CGROUP_EVENTS);
	if (bpf_ringbuf_output(&ft_ring, scratch, sizeof(scratch->head) + bytes, BPF_RB_NO_WAKEUP))
		FT_COUNT(counters, CGROUP_RING_FULL);
}

SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(ft_cgroup_mkdir, struct cgroup *cgroup, const char *path)
{
	struct ft_verdicts newborn = {};
	struct ft_verdicts *inherited;
	struct ft_counters *counters;
	struct ft_config *config;
	__u32 zero = 0;
	long error;
	__u64 id;

	counters = this_cpus_counters();
	config = bpf_map_lookup_elem(&ft_config, &zero);
	if (!counters || !config || !ours(cgroup))
		return 0;
	inherited = ancestor_verdicts(cgroup);
	if (!inherited)
		inherited = &config->fallback;
	for (int type = 0; type < FT_TYPE_COUNT; type++) {
		struct ft_verdict *from = &inherited->of[type], *verdict = &newborn.of[type];

		*verdict = from->child == FT_VERDICT_PENDING ? config->fallback.of[type] : *from;
		verdict->kind = from->child;
		verdict->child = from->child;
	}
	id = cgroup_id(cgroup);
	error = bpf_map_update_elem(&ft_gate, &id, &newborn, BPF_NOEXIST);
	if (error && error != -17 /* EEXIST */)
		FT_COUNT(counters, GATE_FULL);
	tell(cgroup, path, FT_CGROUP_MKDIR, counters);
	return 0;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(ft_cgroup_rmdir, struct cgroup *cgroup, const char *path)
{
	struct ft_counters *counters;
	__u64 id;

	counters = this_cpus_counters();
	if (!counters || !ours(cgroup))
		return 0;
	id = cgroup_id(cgroup);
	bpf_map_delete_elem(&ft_gate, &id);
	tell(cgroup, path, FT_CGROUP_RMDIR, counters);
	return 0;
}

/*
 * Runs when a task is chosen to be killed for memory: mm/oom_kill.c, mark_oom_victim(). Newer
 * kernels pass the task. Older ones pass only its pid, so the victim is known only if it is the
 * current task, which asked for the memory; for other victims the counter in the cgroup's files
 * must suffice.
 */
SEC("raw_tp/mark_victim")
int ft_oom_victim(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	struct ft_counters *counters;
	struct cgroup *cgroup;

	counters = this_cpus_counters();
	if (!counters)
		return 0;
	if ((__s64)ctx->args[0] >= 0) {
		__u64 current = bpf_get_current_pid_tgid();
		__u32 pid = (__u32)ctx->args[0];

		if (pid != (__u32)current && pid != current >> 32)
			return 0;
		task = (void *)bpf_get_current_task();
	}
	cgroup = load_config.use_v2 ? v2_cgroup(task) : v1_cgroup(task);
	if (cgroup)
		tell(cgroup, 0, FT_CGROUP_OOM_KILL, counters);
	return 0;
}

SEC("tp_btf/cgroup_rename")
int BPF_PROG(ft_cgroup_rename, struct cgroup *cgroup, const char *path)
{
	struct ft_counters *counters;

	counters = this_cpus_counters();
	if (!counters || !ours(cgroup))
		return 0;
	tell(cgroup, path, FT_CGROUP_RENAME, counters);
	return 0;
}
