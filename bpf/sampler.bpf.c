// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * The on-CPU sampler: one run for each tick of a CPU's cpu-clock event.
 *
 *   gate -> registers -> kernel stack -> user stack -> hash -> body (once) -> sample
 *
 * Scratch is this family's own: another program may be interrupted by a tick on the same CPU.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "bpf/lib/cgroup.h"
#include "bpf/lib/cold.h"
#include "bpf/lib/task_filter.h"
#include "bpf/lib/user_registers.h"
#include "bpf/lib/user_walk.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Hashes whose body has been submitted; a collision only sends a body again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_SEEN_ENTRIES);
	__type(key, __u32);
	__type(value, __u64);
} ft_seen SEC(".maps");

/*
 * Fills the user part; its head says why it ended. Returns 1 if the walk met code whose table is
 * not here: it stands at that frame.
 */
static __always_inline int user_stack(struct bpf_perf_event_data *ctx, struct task_struct *task,
				      struct stack_scratch *scratch, struct ft_counters *counters)
{
	struct user_registers regs = {};
	__u32 flags = BPF_CORE_READ(task, flags);
	int step;

	scratch->head.user_frames = 0;
	if ((flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) || !BPF_CORE_READ(task, mm)) {
		scratch->head.stop = FT_STOP_NO_USER;
		return 0;
	}
	if (!load_config.user_reads) {
		scratch->head.stop = FT_STOP_REFUSED;
		return 0;
	}
	if (bpf_core_field_exists(task->in_execve) &&
	    BPF_CORE_READ_BITFIELD_PROBED(task, in_execve)) {
		scratch->head.stop = FT_STOP_EXEC;
		FT_COUNT(counters, EXEC);
		return 0;
	}
	if ((ctx->regs.cs & 3) == 3) {
		regs.ip = ctx->regs.rip;
		regs.sp = ctx->regs.rsp;
		regs.bp = ctx->regs.rbp;
		/* The kernel's own context begins with a pointer to them. */
		bpf_probe_read_kernel(&regs.kernel_address, sizeof(regs.kernel_address), ctx);
	} else if (entry_registers(task, &regs)) {
		scratch->head.stop = FT_STOP_PAGE;
		FT_COUNT(counters, NO_REGISTERS);
		return 0;
	}
	scratch->walk.ip = regs.ip;
	scratch->walk.sp = regs.sp;
	scratch->walk.bp = regs.bp;
	scratch->registers = regs.kernel_address;
	step = walk_user(scratch);
	scratch->head.stop = step == FT_STEP_COLD ? FT_STOP_COLD : (__u8)scratch->walk.stop;
	return step == FT_STEP_COLD;
}

static __always_inline void kernel_stack(struct bpf_perf_event_data *ctx,
					 struct stack_scratch *scratch,
					 struct ft_counters *counters)
{
	long bytes;
	__u32 frames;

	scratch->head.kernel_frames = 0;
	if ((ctx->regs.cs & 3) == 3)
		return;
	bytes = bpf_get_stack(ctx, scratch->address, FT_MAX_KERNEL_FRAMES * 8, 0);
	if (bytes <= 0) {
		FT_COUNT(counters, KERNEL_STACK);
		return;
	}
	frames = (__u32)bytes / 8;
	if (frames > FT_MAX_KERNEL_FRAMES)
		frames = FT_MAX_KERNEL_FRAMES;
	for (__u32 i = 0; i < FT_MAX_KERNEL_FRAMES; i++) {
		if (i >= frames)
			break;
		scratch->head.stack_hash = mix(scratch->head.stack_hash, scratch->address[i]);
	}
	scratch->head.kernel_frames = frames;
}

/*
 * The reader sleeps until its timer unless much is waiting, or a sample that it has to look at the
 * process for: a cold one, or one that only it can say is wanted.
 */
static __always_inline __u64 wake_flag(struct stack_scratch *scratch)
{
	return scratch->press || bpf_ringbuf_query(&ft_ring, BPF_RB_AVAIL_DATA) >=
					 load_config.wake_bytes ?
		       BPF_RB_FORCE_WAKEUP :
		       BPF_RB_NO_WAKEUP;
}

/*
 * Submits the body unless it went before. Marked only after it was submitted, so that a body that
 * found no room is sent again with the next sample. Returns 0 if user space has or gets it.
 */
static __always_inline int submit_body(struct stack_scratch *scratch, struct ft_counters *counters)
{
	/* How a walk ended is part of what it is: the same frames may be whole or cut. */
	__u64 hash = mix(scratch->head.stack_hash, scratch->head.stop);
	__u32 slot = hash & (FT_SEEN_ENTRIES - 1);
	__u64 *seen = bpf_map_lookup_elem(&ft_seen, &slot);
	__u32 frames;

	scratch->head.stack_hash = hash;
	if (!seen)
		return -1;
	if (*seen == hash)
		return 0;
	frames = scratch->head.kernel_frames + scratch->head.user_frames;
	if (frames > FT_MAX_KERNEL_FRAMES + FT_MAX_USER_FRAMES)
		frames = FT_MAX_KERNEL_FRAMES + FT_MAX_USER_FRAMES;
	if (bpf_ringbuf_output(&ft_ring, &scratch->head, sizeof(scratch->head) + frames * 8,
			       BPF_RB_NO_WAKEUP)) {
		FT_COUNT(counters, STACK_RING_FULL);
		return -1;
	}
	*seen = hash;
	FT_COUNT(counters, STACKS);
	return 0;
}

static __always_inline void fill_sample(struct ft_sample *sample, struct stack_scratch *scratch,
					__u64 cgroup, __u64 value, int no_stack)
{
	sample->time_ns = scratch->head.time_ns;
	sample->stack_hash = scratch->head.stack_hash;
	sample->cgroup_id = cgroup;
	sample->value = value;
	sample->tgid = scratch->head.tgid;
	sample->tid = (__u32)bpf_get_current_pid_tgid();
	sample->cpu = (__u16)bpf_get_smp_processor_id();
	sample->kind = FT_KIND_SAMPLE;
	sample->type = FT_TYPE_CPU;
	sample->stop = scratch->head.stop;
	sample->flags = no_stack ? FT_SAMPLE_NO_STACK : 0;
	sample->cold = 0;
}

static __always_inline void submit_sample(struct stack_scratch *scratch, __u64 cgroup, __u64 value,
					  int no_stack, struct ft_counters *counters)
{
	struct ft_sample *sample = bpf_ringbuf_reserve(&ft_ring, sizeof(*sample), 0);

	if (!sample) {
		FT_COUNT(counters, RING_FULL);
		return;
	}
	fill_sample(sample, scratch, cgroup, value, no_stack);
	bpf_ringbuf_submit(sample, wake_flag(scratch));
	FT_COUNT(counters, SAMPLES);
}

/* submit_cold() with room_bytes, a constant, for the stack. */
static __always_inline int submit_cold_with(const __u32 room_bytes, struct stack_scratch *scratch,
					    __u64 cgroup, __u64 value, struct ft_counters *counters)
{
	struct ft_cold *cold = bpf_ringbuf_reserve(&ft_ring, sizeof(*cold) + room_bytes, 0);

	if (!cold)
		return -1;
	if (submit_body(scratch, counters)) {
		bpf_ringbuf_discard(cold, BPF_RB_NO_WAKEUP);
		return -1;
	}
	fill_sample(&cold->sample, scratch, cgroup, value, 0);
	cold->sample.kind = FT_KIND_COLD;
	fill_cold(cold, scratch, room_bytes);
	/* The file that it waits for is gone with the process, if that ends soon: read it now. */
	bpf_ringbuf_submit(cold, BPF_RB_FORCE_WAKEUP);
	FT_COUNT(counters, SAMPLES);
	FT_COUNT(counters, COLD);
	return 0;
}

/*
 * Sends a cold sample: its body so far, then what user space needs to go on. Returns 0; -1 if it
 * may not be sent, and then nothing was.
 */
static __always_inline int submit_cold(struct stack_scratch *scratch, __u64 cgroup, __u64 value,
				       struct ft_counters *counters)
{
	__u64 waiting = bpf_ringbuf_query(&ft_ring, BPF_RB_AVAIL_DATA);
	__u64 size = bpf_ringbuf_query(&ft_ring, BPF_RB_RING_SIZE);

	/* These are large: whole samples must never find the ring full for their sake. */
	if (waiting > size / 2 || !cold_due(scratch))
		return -1;
	if (waiting < size / 4 && is_deep(scratch->walk.sp) &&
	    !submit_cold_with(FT_COLD_DEEP_BYTES, scratch, cgroup, value, counters))
		return 0;
	return submit_cold_with(FT_COLD_STACK_BYTES, scratch, cgroup, value, counters);
}

/* 1: the verdict's filter leaves this tick out. Sets *undecided if only user space can tell. */
static __always_inline int filtered(struct ft_verdict *verdict, struct ft_config *config,
				    struct task_struct *task, __u32 gate_version, int *undecided)
{
	__u32 kind;

	if (verdict->cpus && !cpu_wanted(verdict->cpus))
		return 1;
	if (!verdict->tasks)
		return 0;
	kind = task_verdict(task, config->tasks_version, gate_version);
	*undecided = kind == FT_VERDICT_PENDING;
	return kind == FT_VERDICT_NO;
}

/* 1: this tick is a sample, and *value says what it stands for. */
static __always_inline int gate(struct ft_config *config, struct task_struct *task,
				__u32 gate_version, __u64 *cgroup, __u64 *value,
				struct stack_scratch *scratch, struct ft_counters *counters)
{
	__u64 tick = scratch->tick++;
	struct ft_verdict *verdict;
	int undecided = 0;
	__u8 kind;

	scratch->press = 0;

	if (load_config.use_v2) {
		*cgroup = bpf_get_current_cgroup_id();
	} else {
		struct cgroup *v1 = v1_cgroup(task);

		*cgroup = v1 ? cgroup_id(v1) : 0;
	}
	if (!*cgroup)
		FT_COUNT(counters, NO_CGROUP);
	verdict = bpf_map_lookup_elem(&ft_gate, cgroup);
	if (verdict) {
		kind = verdict->kind;
	} else {
		if (*cgroup)
			verdict = ancestor_verdict(load_config.use_v2 ? v2_cgroup(task) :
									v1_cgroup(task));
		if (!verdict)
			verdict = &config->fallback;
		kind = verdict->child;
	}
	if (kind == FT_VERDICT_NO) {
		FT_COUNT(counters, REFUSED);
		return 0;
	}
	/* Newborns take the filter over from a container they are in, not from what is around it.
	 */
	if (kind == FT_VERDICT_YES && filtered(verdict, config, task, gate_version, &undecided)) {
		FT_COUNT(counters, FILTERED);
		return 0;
	}
	scratch->press = undecided;
	/* Evenly spread: tick n is kept when n * keep crosses a multiple of FT_KEEP_ALL. */
	if (verdict->keep < FT_KEEP_ALL &&
	    (tick * verdict->keep) / FT_KEEP_ALL == ((tick + 1) * verdict->keep) / FT_KEEP_ALL) {
		FT_COUNT(counters, THINNED);
		return 0;
	}
	*value = verdict->value;
	return 1;
}

static __always_inline void identify(struct stack_scratch *scratch, struct task_struct *task,
				     struct ft_config *config)
{
	__u64 exec_id = BPF_CORE_READ(task, self_exec_id);

	scratch->head.time_ns = bpf_ktime_get_ns();
	scratch->head.tgid = bpf_get_current_pid_tgid() >> 32;
	scratch->head.start_ns = BPF_CORE_READ(task, group_leader, start_time);
	scratch->head.exec_id = (__u32)exec_id;
	scratch->head.epoch = config->epoch;
	scratch->head.kind = FT_KIND_STACK;
	/* Raw addresses mean nothing across processes, execs and windows: they go in first. */
	scratch->head.stack_hash =
		mix(mix((__u64)scratch->head.tgid << 32 | scratch->head.epoch, exec_id),
		    scratch->head.start_ns);
}

static __always_inline void sample(struct bpf_perf_event_data *ctx, struct task_struct *task,
				   __u32 gate_version, struct ft_counters *counters)
{
	struct stack_scratch *scratch;
	struct ft_config *config;
	__u64 cgroup = 0, value = 0;
	__u32 zero = 0;
	int cold, no_stack;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	config = bpf_map_lookup_elem(&ft_config, &zero);
	if (!scratch || !config)
		return;
	if (!gate(config, task, gate_version, &cgroup, &value, scratch, counters))
		return;
	identify(scratch, task, config);
	kernel_stack(ctx, scratch, counters);
	cold = user_stack(ctx, task, scratch, counters);
	if (cold && !submit_cold(scratch, cgroup, value, counters))
		return;
	if (cold) {
		FT_COUNT(counters, COLD_LIMITED);
		walk_frame_pointers();
	}
	counters->stop[scratch->head.stop & 15]++;
	no_stack = submit_body(scratch, counters);
	submit_sample(scratch, cgroup, value, no_stack, counters);
}

SEC("perf_event")
int ft_sample_cpu(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = current_task();
	struct ft_counters *counters;
	struct ft_cpu *cpu = this_cpu();
	__u32 tid = FT_TASK(task, pid), gate_version;
	__u64 begin = 0;

	if (!cpu || !tid)
		return 0; /* idle, where exclude_idle was not honoured */
	counters = &cpu->counters;
	if (counters->value[FT_COUNT_RUNS]++ % FT_TIMED_EVERY == 0)
		begin = bpf_ktime_get_ns();
	gate_version = *(volatile __u32 *)&cpu->gate_version;
	if (still_left_out(task, tid, gate_version))
		FT_COUNT(counters, FILTERED);
	else
		sample(ctx, task, gate_version, counters);
	if (begin)
		counters->value[FT_COUNT_RUN_NS] += (bpf_ktime_get_ns() - begin) * FT_TIMED_EVERY;
	return 0;
}
