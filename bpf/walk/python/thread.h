/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Finds the state that CPython has of the current thread. */
#ifndef FIRETOWER_BPF_WALK_PYTHON_THREAD_H
#define FIRETOWER_BPF_WALK_PYTHON_THREAD_H

#include "bpf/walk/python/function.h"

/*
 * Which states are whose, so that a list is searched once a thread. A thread's last one stays its
 * own as long as it says so itself; an entry of another thread is only searched again.
 */
#define FT_PYTHON_THREADS 2048

struct python_thread {
	__u64 fs;
	__u64 state;
	__u32 tgid;
	__u32 pad0;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FT_PYTHON_THREADS);
	__type(key, __u32);
	__type(value, struct python_thread);
} ft_python_threads SEC(".maps");

/*
 * A search looks at so many states at most, a stride in each turn of the walk; a new thread is the
 * first of its list.
 */
#define FT_PYTHON_STRIDE 32
#define FT_PYTHON_STRIDES 8

/* 1: a state says that it is of the thread in hand. */
static __always_inline int is_state_of(struct chain_scratch *python, __u64 state)
{
	return state && word_at(python, state + python->build.state_thread) == python->fs;
}

/*
 * Returns the thread's state by glibc's pthread key; 0: it has none, or this is another C library.
 */
static __always_inline __u64 state_by_key(struct chain_scratch *python, __u64 runtime)
{
	__u64 state;

	if (!python->build.thread_key)
		return 0;
	state = thread_value(python, (__u32)word_at(python, runtime + python->build.thread_key));
	return is_state_of(python, state) ? state : 0;
}

static __always_inline struct python_thread *thread_entry(struct chain_scratch *python)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	__u32 slot = mix(python->fs, tgid) & (FT_PYTHON_THREADS - 1);

	return bpf_map_lookup_elem(&ft_python_threads, &slot);
}

/* Returns the state that the thread had when it was searched for last, if it still has it; or 0. */
static __always_inline __u64 last_state(struct chain_scratch *python)
{
	struct python_thread *last = thread_entry(python);

	if (!last || last->fs != python->fs || last->tgid != bpf_get_current_pid_tgid() >> 32)
		return 0;
	return is_state_of(python, last->state) ? last->state : 0;
}

static __always_inline void note_state(struct chain_scratch *python)
{
	struct python_thread *last = thread_entry(python);

	if (!last || !python->state)
		return;
	last->state = python->state;
	last->fs = python->fs;
	last->tgid = bpf_get_current_pid_tgid() >> 32;
}

/* Begins a search in the interpreters' lists of threads. Returns 0, or -1 if there is none. */
static __always_inline int begin_search(struct chain_scratch *python, __u64 runtime)
{
	python->strides = 0;
	python->interpreter = word_at(python, runtime + python->build.interpreters);
	if (!python->interpreter)
		return -1;
	python->state = word_at(python, python->interpreter + python->build.interpreter_threads);
	return 0;
}

/* Goes on with it. Returns 1 when it is through: python->state is the thread's, or 0. */
static __always_inline int search_stride(struct chain_scratch *python)
{
	struct ft_python *build = &python->build;

	for (int i = 0; i < FT_PYTHON_STRIDE; i++) {
		if (!python->state) {
			python->interpreter =
				word_at(python, python->interpreter + build->interpreter_next);
			if (!python->interpreter)
				return 1;
			python->state =
				word_at(python, python->interpreter + build->interpreter_threads);
			continue;
		}
		/* One without frames may be of another interpreter than the one that runs. */
		if (is_state_of(python, python->state) &&
		    word_at(python, python->state + build->thread_frame))
			return 1;
		python->state = word_at(python, python->state + build->state_next);
	}
	if (++python->strides < FT_PYTHON_STRIDES)
		return 0;
	python->state = 0;
	return 1;
}

#endif
