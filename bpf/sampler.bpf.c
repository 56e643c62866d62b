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
#include "bpf/lib/user_stack.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct stack_scratch {
	struct ft_stack head;
	__u64 address[FT_MAX_KERNEL_FRAMES + FT_MAX_USER_FRAMES];
	__u64 tick; /* ticks of this CPU, for thinning */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_scratch);
} ft_scratch SEC(".maps");

/* Hashes whose body has been submitted; a collision only sends a body again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_SEEN_ENTRIES);
	__type(key, __u32);
	__type(value, __u64);
} ft_seen SEC(".maps");

/* One caller's frame, as the x86-64 ABI lays it out at the frame pointer. */
struct frame_record {
	__u64 next;
	__u64 return_address;
};

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	/* Murmur-style multiply and fold: two dependent instructions a frame. */
	hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
	return hash ^ (hash >> 32);
}

/*
 * One frame-pointer step: reads the record at `frame_pointer` into slot `index` and returns the
 * next frame pointer; 0 when the walk ends, with the reason in the scratch head. Global, not
 * static: the verifier then checks it once, not once a frame (5.10 takes scalars only).
 */
__attribute__((noinline)) __u64 frame_pointer_step(__u64 frame_pointer, __u32 index)
{
	struct stack_scratch *scratch;
	struct frame_record record;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	if (!scratch || index >= FT_MAX_KERNEL_FRAMES + FT_MAX_USER_FRAMES)
		return 0;
	if (bpf_probe_read_user(&record, sizeof(record), (void *)frame_pointer)) {
		scratch->head.stop = FT_STOP_PAGE;
		return 0;
	}
	if (!record.return_address) {
		scratch->head.stop = FT_STOP_ROOT;
		return 0;
	}
	if (!is_user_address(record.return_address)) {
		scratch->head.stop = FT_STOP_RETURN;
		return 0;
	}
	scratch->address[index] = record.return_address;
	scratch->head.user_frames++;
	scratch->head.stack_hash = mix(scratch->head.stack_hash, record.return_address);
	if (!record.next) {
		scratch->head.stop = FT_STOP_ROOT;
		return 0;
	}
	if (record.next <= frame_pointer || (record.next & 7)) {
		scratch->head.stop = FT_STOP_FRAME_POINTER;
		return 0;
	}
	return record.next;
}

static __always_inline void walk_user(struct stack_scratch *scratch, struct user_registers *regs)
{
	__u32 slot = scratch->head.kernel_frames & 127;
	__u64 frame_pointer = regs->bp;

	scratch->address[slot] = regs->ip;
	scratch->head.user_frames = 1;
	scratch->head.stack_hash = mix(scratch->head.stack_hash, regs->ip);
	if (!frame_pointer) {
		scratch->head.stop = FT_STOP_ROOT;
		return;
	}
	/* The frame of a caller lies above the stack pointer: anything else is a plain register. */
	if (frame_pointer < regs->sp || (frame_pointer & 7)) {
		scratch->head.stop = FT_STOP_FRAME_POINTER;
		return;
	}
	scratch->head.stop = FT_STOP_DEPTH;
	for (__u32 i = 1; i < FT_MAX_USER_FRAMES; i++) {
		frame_pointer = frame_pointer_step(frame_pointer, slot + i);
		if (!frame_pointer)
			break;
	}
}

/* Fills the user part; its head says why it ended. */
static __always_inline void user_stack(struct bpf_perf_event_data *ctx, struct task_struct *task,
				       struct stack_scratch *scratch, struct ft_counters *counters)
{
	struct user_registers regs = {};
	__u32 flags = BPF_CORE_READ(task, flags);

	scratch->head.user_frames = 0;
	if ((flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) || !BPF_CORE_READ(task, mm)) {
		scratch->head.stop = FT_STOP_NO_USER;
		return;
	}
	if (!load_config.user_reads) {
		scratch->head.stop = FT_STOP_REFUSED;
		return;
	}
	if (bpf_core_field_exists(task->in_execve) &&
	    BPF_CORE_READ_BITFIELD_PROBED(task, in_execve)) {
		scratch->head.stop = FT_STOP_EXEC;
		FT_COUNT(counters, EXEC);
		return;
	}
	if ((ctx->regs.cs & 3) == 3) {
		regs.ip = ctx->regs.rip;
		regs.sp = ctx->regs.rsp;
		regs.bp = ctx->regs.rbp;
	} else if (entry_registers(task, &regs)) {
		scratch->head.stop = FT_STOP_PAGE;
		FT_COUNT(counters, NO_REGISTERS);
		return;
	}
	walk_user(scratch, &regs);
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

/* The reader sleeps until its timer unless much is waiting. */
static __always_inline __u64 wake_flag(void)
{
	return bpf_ringbuf_query(&ft_ring, BPF_RB_AVAIL_DATA) >= load_config.wake_bytes ?
		       BPF_RB_FORCE_WAKEUP :
		       BPF_RB_NO_WAKEUP;
}

/*
 * Submits the body unless it went before. Marked only after it was submitted, so that a body that
 * found no room is sent again with the next sample. Returns 0 if user space has or gets it.
 */
static __always_inline int submit_body(struct stack_scratch *scratch, struct ft_counters *counters)
{
	__u64 hash = scratch->head.stack_hash;
	__u32 slot = hash & (FT_SEEN_ENTRIES - 1);
	__u64 *seen = bpf_map_lookup_elem(&ft_seen, &slot);
	__u32 frames;

	if (!seen)
		return -1;
	if (*seen == hash)
		return 0;
	frames = scratch->head.kernel_frames + scratch->head.user_frames;
	if (frames > FT_MAX_KERNEL_FRAMES + FT_MAX_USER_FRAMES)
		frames = FT_MAX_KERNEL_FRAMES + FT_MAX_USER_FRAMES;
	if (bpf_ringbuf_output(&ft_ring, scratch, sizeof(scratch->head) + frames * 8,
			       BPF_RB_NO_WAKEUP)) {
		FT_COUNT(counters, STACK_RING_FULL);
		return -1;
	}
	*seen = hash;
	FT_COUNT(counters, STACKS);
	return 0;
}

static __always_inline void submit_sample(struct stack_scratch *scratch, __u64 cgroup, __u64 value,
					  int no_stack, struct ft_counters *counters)
{
	struct ft_sample *sample = bpf_ringbuf_reserve(&ft_ring, sizeof(*sample), 0);

	if (!sample) {
		FT_COUNT(counters, RING_FULL);
		return;
	}
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
	sample->pad = 0;
	bpf_ringbuf_submit(sample, wake_flag());
	FT_COUNT(counters, SAMPLES);
}

/* 1: this tick is a sample, and *value says what it stands for. */
static __always_inline int gate(struct ft_config *config, struct task_struct *task, __u64 *cgroup,
				__u64 *value, __u64 tick, struct ft_counters *counters)
{
	struct ft_verdict *verdict;
	__u8 kind;

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

static __always_inline void sample(struct bpf_perf_event_data *ctx, struct ft_counters *counters)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct stack_scratch *scratch;
	struct ft_config *config;
	__u64 cgroup = 0, value = 0;
	__u32 zero = 0;
	int no_stack;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	config = bpf_map_lookup_elem(&ft_config, &zero);
	if (!scratch || !config)
		return;
	if (!gate(config, task, &cgroup, &value, scratch->tick++, counters))
		return;
	identify(scratch, task, config);
	kernel_stack(ctx, scratch, counters);
	user_stack(ctx, task, scratch, counters);
	counters->stop[scratch->head.stop & 7]++;
	no_stack = submit_body(scratch, counters);
	submit_sample(scratch, cgroup, value, no_stack, counters);
}

SEC("perf_event")
int ft_sample_cpu(struct bpf_perf_event_data *ctx)
{
	struct ft_counters *counters;
	__u32 zero = 0;
	__u64 begin = 0;

	counters = bpf_map_lookup_elem(&ft_counters, &zero);
	if (!counters)
		return 0;
	if (!(bpf_get_current_pid_tgid() >> 32))
		return 0; /* idle, where exclude_idle was not honoured */
	if (counters->value[FT_COUNT_RUNS]++ % FT_TIMED_EVERY == 0)
		begin = bpf_ktime_get_ns();
	sample(ctx, counters);
	if (begin)
		counters->value[FT_COUNT_RUN_NS] += (bpf_ktime_get_ns() - begin) * FT_TIMED_EVERY;
	return 0;
}
