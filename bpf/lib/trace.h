/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The trace that the current thread works on, where its process publishes it: the variable
 * otel_thread_ctx_v1 of each thread has the address of a record (OTEP 4947: Thread Context).
 * docs/adr/0042-trace-ids.md
 */
#ifndef FIRETOWER_BPF_LIB_TRACE_H
#define FIRETOWER_BPF_LIB_TRACE_H

#include <bpf/bpf_core_read.h>

#include "bpf/lib/kernel_types.h"
#include "bpf/lib/scratch.h"

/* At FS: the address of the thread's vector of blocks, in glibc and in musl. */
#define FT_DTV 8

/*
 * Returns the address of the thread's block of the module; 0: it has none. The vector says how many
 * entries it has: in glibc in the one before it, in musl in the first.
 */
static __always_inline __u64 own_block(struct stack_scratch *scratch, __u64 fs)
{
	__u64 vector, word;

	if (bpf_probe_read_user(&vector, 8, (void *)(fs + FT_DTV)) || !vector)
		return 0;
	if (bpf_probe_read_user(&word, 8, (void *)(vector - (scratch->dtv_bytes & 16))) ||
	    word < scratch->trace_module)
		return 0;
	vector += (__u64)scratch->trace_module * scratch->dtv_bytes;
	/* One that the thread has not used is at -1, where nothing can be read. */
	return bpf_probe_read_user(&word, 8, (void *)vector) ? 0 : word;
}

/*
 * Reads it to the scratch; 1: there is one. Global, not static, so that the verifier checks it
 * once.
 */
__attribute__((noinline)) int read_trace(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct stack_scratch *scratch;
	struct trace_record *trace;
	__u64 address;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&ft_scratch, &zero);
	if (!scratch)
		return 0;
	trace = &scratch->trace;
	address = BPF_CORE_READ(task, thread.fsbase);
	if (scratch->trace_kind == FT_TRACE_DTV && !(address = own_block(scratch, address)))
		return 0;
	address += scratch->trace_offset;
	if (bpf_probe_read_user(&address, 8, (void *)address) || !address ||
	    bpf_probe_read_user(trace, FT_TRACE_RECORD_BYTES, (void *)address))
		return 0;
	return trace->valid == 1 && (trace->ids.trace[0] || trace->ids.trace[1]);
}

/* Sends the trace of a sample before the sample. */
static __always_inline void send_trace(const struct ft_trace_ids *ids, __u64 time_ns, __u32 tgid,
				       __u32 tid)
{
	struct ft_trace *trace = bpf_ringbuf_reserve(&ft_ring, sizeof(*trace), 0);

	if (!trace)
		return; /* The sample says that there was one. */
	trace->time_ns = time_ns;
	trace->ids = *ids;
	trace->tgid = tgid;
	trace->tid = tid;
	trace->pad0 = 0;
	trace->kind = FT_KIND_TRACE;
	trace->pad1 = 0;
	trace->pad2 = 0;
	bpf_ringbuf_submit(trace, BPF_RB_NO_WAKEUP);
}

/* Sends that of the sample in scratch. Returns FT_SAMPLE_TRACED, or 0: there is none. */
static __always_inline __u8 send_trace_of(struct stack_scratch *scratch)
{
	if (!scratch->trace_kind || !read_trace())
		return 0;
	send_trace(&scratch->trace.ids, scratch->head.time_ns, scratch->head.tgid,
		   (__u32)bpf_get_current_pid_tgid());
	return FT_SAMPLE_TRACED;
}

#endif
