// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/types.h>

// Frames a part; the default of sysctl kernel.perf_event_max_stack.
#define FLOOR_MAX_FRAMES 127

// Followed by the kernel's addresses, then the user's.
struct floor_record {
	__u64 time_ns;
	__u64 tgid_tid;
	__u32 kernel_bytes;
	__u32 user_bytes;
};
