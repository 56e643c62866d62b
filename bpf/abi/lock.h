/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* The lock that a thread waits for. Both sides include this file. */
#ifndef FIRETOWER_BPF_ABI_LOCK_H
#define FIRETOWER_BPF_ABI_LOCK_H

#include <linux/types.h>

/* futex_waitv in place of an operation of futex(2). */
#define FT_FUTEX_WAITV (1u << 16)
/*
 * A lock of the kernel's, with its address, and these flags beside: LCB_F_* of
 * include/trace/events/lock.h.
 */
#define FT_FUTEX_KERNEL (1u << 17)
#define FT_LOCK_SPIN (1u << 0)
#define FT_LOCK_READ (1u << 1)
#define FT_LOCK_WRITE (1u << 2)
#define FT_LOCK_RT (1u << 3)
#define FT_LOCK_PERCPU (1u << 4)
#define FT_LOCK_MUTEX (1u << 5)
/* The words of user space's lock that are kept, from its futex on. */
#define FT_FUTEX_WORDS 7

/* The system call by which a thread waits for a futex, or the lock of the kernel's. */
struct ft_futex {
	__u64 address; /* of the futex; 0: the thread waits for something else */
	__u32 op;      /* as in futex(2), with its flags; FT_FUTEX_WAITV, FT_FUTEX_KERNEL */
	__u32 value;   /* that it had for the thread to wait */
	__u32 word[FT_FUTEX_WORDS];
	__u32 words; /* 1: they could be read */
};

#endif
