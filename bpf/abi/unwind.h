/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Unwind tables and address spaces, as user space lays them out and the walk reads them.
 *
 *   ft_processes   tgid -> where its executable mappings are listed
 *   arena          per process: ft_space, starts[count], ft_mapping[count]
 *                  per module:  blocks[count + 1], rows[], rules[]
 *   ft_modules     slot -> where the module's table is
 *
 * A position is a byte offset into the arena, which is made of slabs: array maps of one value each,
 * written through their memory mapping. Position 0 holds nothing.
 */
#ifndef FIRETOWER_BPF_ABI_UNWIND_H
#define FIRETOWER_BPF_ABI_UNWIND_H

#include "bpf/abi/record.h"

/* 1 MiB: Linux 5.10 takes array values of up to 4 MiB, and a small node needs little. */
#define FT_SLAB_SHIFT 20
#define FT_SLAB_BYTES (1u << FT_SLAB_SHIFT)
#define FT_MAX_SLABS 1024

/*
 * A table is divided into blocks of 1 KiB of file, with some ten rows each. The two words of the
 * block index, the rows and the rule then take one cache line each.
 */
#define FT_BLOCK_SHIFT 10
#define FT_BLOCK_BYTES (1u << FT_BLOCK_SHIFT)

/* A row has the offset within its block in the low bits and the index of its rule above. */
#define FT_ROW_OFFSET(row) ((row) & (FT_BLOCK_BYTES - 1))
#define FT_ROW_RULE(row) ((row) >> FT_BLOCK_SHIFT)
#define FT_MAX_RULES (1u << (32 - FT_BLOCK_SHIFT))

enum ft_cfa {
	FT_CFA_NONE = 0,        /* no rule here: a gap, or one we cannot express */
	FT_CFA_SP = 1,          /* RSP + offset */
	FT_CFA_BP = 2,          /* RBP + offset */
	FT_CFA_PLT = 3,         /* RSP + 8, + 16 from byte `extra` of a 16-byte entry on */
	FT_CFA_SP_AT = 4,       /* *(RSP + offset) + extra */
	FT_CFA_BP_AT = 5,       /* *(RBP + offset) + extra */
	FT_CFA_REG = 6,         /* another register + offset: in a leaf only */
	FT_CFA_ROOT = 7,        /* the return address is undefined: the thread's first frame */
	FT_CFA_SP_INDEX_AT = 8, /* *(RSP + 8 * register + offset) + extra: in a leaf only */
	FT_CFA_BP_OTHER = 9,    /* RBP + offset, on another stack: it may lie below RSP */
};

enum ft_rule_flag {
	FT_RULE_BP_CFA = 1,   /* the caller's RBP is at CFA + bp_offset */
	FT_RULE_BP_SP = 2,    /* … at RSP + bp_offset */
	FT_RULE_BP_BP = 4,    /* … at RBP + bp_offset */
	FT_RULE_BP_UNTIL = 8, /* saved before bp_from, and not from it on */
	FT_RULE_RA_SP = 16,   /* the return address is at RSP + extra, else at CFA - 8 */
	FT_RULE_RA_REG = 32,  /* … in register `reg`: in a leaf only */
	FT_RULE_POPS = 64,    /* each step takes 8 from the CFA offset instead of adding 8 */
	FT_RULE_SIGNAL = 128, /* a signal frame: its caller was interrupted, it made no call */
};

/*
 * The step from a frame to its caller. A series of pushes or pops is one rule: bit n of `steps`
 * moves the CFA offset by 8 from n + 1 bytes behind the row on.
 */
struct ft_rule {
	__u8 cfa;     /* enum ft_cfa */
	__u8 flags;   /* enum ft_rule_flag */
	__u8 reg;     /* DWARF number, for FT_CFA_REG, FT_CFA_SP_INDEX_AT and FT_RULE_RA_REG */
	__u8 bp_from; /* bytes behind the row from which on RBP is saved */
	__u16 steps;
	__s16 extra;
	__s32 cfa_offset;
	__s32 bp_offset;
};

enum ft_module_state {
	FT_MODULE_COLD = 0,     /* its table is not there yet */
	FT_MODULE_NO_TABLE = 1, /* it has none: frame pointers */
	FT_MODULE_TABLE = 2,
};

/* Slots of modules whose tables were requested. Slot 0 is code without a table. */
#define FT_MAX_MODULES 16384
/* The slot of memory that a program wrote code to. */
#define FT_MODULE_WRITTEN 2

struct ft_module {
	__u32 blocks; /* position of __u32[block_count + 1]: index of each block's first row */
	__u32 rows;   /* position of __u32[] */
	__u32 rules;  /* position of struct ft_rule[] */
	__u32 first_block;
	__u32 block_count;
	__u32 state; /* enum ft_module_state */
	/*
	 * The number of the table: a new table in this slot, or at this place, gets a new
	 * number. Written after all other fields except the state; never 0 if there is a table.
	 */
	__u32 serial;
	__u32 runtime; /* position of the struct of bpf/abi/runtime.h, if there is a table; or 0 */
};

/* One executable mapping. Its start is in the array before the mappings. */
struct ft_mapping {
	__u64 end;
	__u64 bias; /* address - bias = offset in the file */
	__u32 module;
	__u32 pad;
	__u64 pad2;
};

/* The most mappings that are searched, 2^13 - 1; the largest processes seen have some 3,000. */
#define FT_MAPPING_STEPS 13
#define FT_MAX_MAPPINGS ((1u << FT_MAPPING_STEPS) - 1)

/* How the address of a thread's variable otel_thread_ctx_v1 is found. */
enum ft_trace_kind {
	FT_TRACE_NONE = 0,   /* the process has no such variable */
	FT_TRACE_STATIC = 1, /* FS + trace_offset */
	FT_TRACE_DTV = 2,    /* the thread's block of module trace_module + trace_offset */
};

/*
 * A process's list never changes; a new list replaces it. It has this head, then the starts in
 * rising order, and from the next cache line on the mappings.
 */
struct ft_space {
	__u64 count;
	__s64 trace_offset;
	__u32 trace_module;
	__u16 trace_kind; /* enum ft_trace_kind */
	__u16 dtv_bytes;  /* of an entry of the thread's vector: 16, of musl 8 */
	__u64 pad;
};
#define FT_START_AT(index) ((__u32)sizeof(struct ft_space) + (index)*8)
#define FT_STARTS_BYTES(count) ((((__u64)(count)*8) + sizeof(struct ft_space) + 63) & ~63ULL)

/*
 * A process with its exec generation. Another generation or owner of the same tgid is unknown.
 * Four entries make a bucket, which is one cache line.
 */
struct ft_process {
	__u32 tgid;     /* 0: free */
	__u32 identity; /* ft_identity() */
	__u32 mappings; /* position */
	__u32 machine;  /* position of a struct that begins with ft_machine, or 0 */
};

enum ft_machine_kind {
	FT_MACHINE_HOTSPOT = 1, /* struct ft_hotspot (bpf/abi/hotspot.h) */
	FT_MACHINE_V8 = 2,      /* struct ft_v8 (bpf/abi/v8.h) */
	/*
	 * struct ft_machine alone: code that PHP's compiler wrote runs in the frame of
	 * execute_ex(), of which `builtins` is an address.
	 */
	FT_MACHINE_PHP = 3,
	/* Likewise: code of Ruby's compiler was called from rb_vm_exec(), where `builtins` is. */
	FT_MACHINE_RUBY = 4,
};

/*
 * A runtime whose frames lie on the native stack, in code that no file has rows for. It begins with
 * the addresses of that code in a process, and what follows says how to step over its frames.
 */
struct ft_machine {
	__u64 low; /* memory that the runtime writes code to … */
	__u64 bytes;
	__u64 builtins; /* … and code of its own that is in a file; 0 bytes: none */
	__u64 builtins_bytes;
	__u32 kind;   /* enum ft_machine_kind */
	__u32 module; /* of the file that has the runtime, for V8 */
	__u32 pad[6];
};

#define FT_PROCESS_WAYS 4
#define FT_PROCESS_BUCKETS 4096

struct ft_process_bucket {
	struct ft_process way[FT_PROCESS_WAYS];
};

/*
 * Identifies the image of a process: the start time tells apart the owners of a pid, and the
 * exec id tells apart their images.
 */
static inline __u32 ft_identity(__u64 start_ns, __u32 exec_id)
{
	return (__u32)(start_ns >> 12) * 2654435761u + exec_id;
}

/* Returns one of the two buckets that a process may be in. */
static inline __u32 ft_bucket(__u32 tgid, __u32 choice)
{
	__u32 hash = (tgid + choice * 0x9e3779b9u) * 2654435761u;

	return (hash >> 16) & (FT_PROCESS_BUCKETS - 1);
}

FT_STATIC_ASSERT(sizeof(struct ft_rule) == 16, "a rule never crosses a slab");
FT_STATIC_ASSERT(sizeof(struct ft_module) % 8 == 0, "the kernel rounds an array's values up");
FT_STATIC_ASSERT(sizeof(struct ft_mapping) == 32, "a mapping never crosses a slab");
FT_STATIC_ASSERT(sizeof(struct ft_space) == 32, "nor does a head");
FT_STATIC_ASSERT(sizeof(struct ft_machine) == 64, "it is read where a cache line begins");
FT_STATIC_ASSERT(sizeof(struct ft_process_bucket) == 64, "a bucket is a cache line");

#endif
