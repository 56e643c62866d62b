/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Reads what names a subroutine of Perl's and sends it when the walk meets it: the interrupted
 * thread holds the context, which holds the subroutine. The layouts are those of sv.h, cv.h, gv.h,
 * hv.h and cop.h, alike in 5.32 to 5.42.
 */
#ifndef FIRETOWER_BPF_WALK_PERL_FUNCTION_H
#define FIRETOWER_BPF_WALK_PERL_FUNCTION_H

#include "bpf/walk/chain_frames.h"

/* The types of subroutines and formats, SVt_PVCV and SVt_PVFM. */
#define FT_PERL_CODE_TYPE 13
#define FT_PERL_FORMAT_TYPE 14

/* struct xpvcv, in chain->code_bytes. */
#define FT_PERL_PACKAGE 32
#define FT_PERL_START 40
#define FT_PERL_ROOT 48
#define FT_PERL_NAME 56
#define FT_PERL_FILE 64
#define FT_PERL_SEQUENCE 88
#define FT_PERL_FLAGS 92
#define FT_PERL_DEPTH 96
#define FT_PERL_BODY_BYTES 104
/* CVf_NAMED: the name stands in place of what has it. CVf_LEXICAL: it is of no package. */
#define FT_PERL_NAMED 0x8000
#define FT_PERL_LEXICAL 0x10000

/* struct cop */
#define FT_PERL_STATEMENT_TYPE 32
#define FT_PERL_STATEMENT_LINE 36
#define FT_PERL_STATEMENT_FILE 48

/*
 * Reads the subroutine or format at `code`. Returns 0; -1 if it is not resident; 1 if it is none,
 * as in a context that is only being filled in.
 */
static __always_inline int read_perl_code(struct chain_scratch *chain, __u64 code, __u8 type)
{
	if (!code)
		return 1;
	if (bpf_probe_read_user(chain->code_bytes, 16, (void *)code))
		return -1;
	if (chain->code_bytes[12] != type)
		return 1;
	chain->word = FT_CODE_WORD(chain, 0);
	return bpf_probe_read_user(chain->code_bytes, FT_PERL_BODY_BYTES, (void *)chain->word) ?
		       -1 :
		       0;
}

/*
 * Returns what tells the subroutine in hand from others whose code began at its address before. No
 * two have the same number of their sequence.
 */
static __always_inline __u32 perl_cookie(struct chain_scratch *chain)
{
	__u64 hash = mix(mix(FT_CODE_WORD(chain, FT_PERL_ROOT), FT_CODE_WORD(chain, FT_PERL_NAME)),
			 FT_CODE_WORD(chain, FT_PERL_FILE));

	hash = mix(hash, *(__u32 *)(chain->code_bytes + FT_PERL_SEQUENCE));
	return (__u32)(hash >> 8) | 1;
}

/* Returns the bytes of the name at `name`, struct hek, that fit; `length` is all of them. */
static __always_inline __u64 read_perl_name(struct chain_scratch *chain, __u8 *to, __u32 *length,
					    __u64 name)
{
	__u64 bytes;

	*length = name ? word_at(chain, name) >> 32 : 0;
	bytes = *length < 255 ? *length : 255;
	FT_MASKED(bytes, 255);
	return bpf_probe_read_user(to, bytes, (void *)(name + 8)) ? 0 : bytes;
}

/* Reads a text that ends with a zero. */
static __always_inline void read_perl_text(struct ft_text *to, __u64 text)
{
	long bytes = text ? bpf_probe_read_user_str(to->text, sizeof(to->text), (void *)text) : 0;

	to->length = to->bytes = bytes > 0 ? (__u32)bytes - 1 : 0;
}

/* Returns where a package, which is a hash, has its name; or 0. */
static __always_inline __u64 package_name(struct chain_scratch *chain, __u64 package)
{
	__u64 more = package ? word_at(chain, package) : 0, name;
	__s32 names;

	if (!more)
		return 0;
	/* struct xpvhv_aux, behind the body or behind the table. */
	if (chain->perl.name_apart)
		more = word_at(chain, package + 16) + (word_at(chain, more + 24) + 1) * 8;
	else
		more += 32;
	names = (__s32)(word_at(chain, more + 24) >> 32);
	name = word_at(chain, more);
	if (!names || !name)
		return name;
	return word_at(chain, name + (names < 0 ? 8 : 0));
}

/* Returns the line that the subroutine in hand begins at, or 0: its first operation may say it. */
static __always_inline __u32 perl_first_line(struct chain_scratch *chain)
{
	__u32 type =
		word_at(chain, FT_CODE_WORD(chain, FT_PERL_START) + FT_PERL_STATEMENT_TYPE) & 511;

	if (!chain->perl.next_state || type - chain->perl.next_state > 1)
		return 0;
	/* The word was read: its upper half is the line. */
	return (__u32)(chain->word >> 32);
}

/* Sends the subroutine or format in hand, unless it went before in this epoch. */
static __always_inline void send_perl_code(struct stack_scratch *scratch,
					   struct chain_scratch *chain, __u32 cookie, __u32 kind)
{
	struct ft_function *to = &chain->function;
	__u64 name, package, hash, bytes, *sent = begin_function(scratch, chain, cookie, &hash);
	__u32 length, flags;

	if (!sent)
		return;
	to->minor = chain->perl.version;
	to->runtime = FT_RUNTIME_PERL;
	to->first_line = perl_first_line(chain);
	to->file.state = 0;
	read_perl_text(&to->file, FT_CODE_WORD(chain, FT_PERL_FILE));
	name = FT_CODE_WORD(chain, FT_PERL_NAME);
	package = FT_CODE_WORD(chain, FT_PERL_PACKAGE);
	flags = *(__u32 *)(chain->code_bytes + FT_PERL_FLAGS);
	if (name && !(flags & FT_PERL_NAMED)) {
		/* A glob: its name and package are at the end of its body, struct xpvgv. */
		name = word_at(chain, name);
		package = word_at(chain, name + 40);
		name = word_at(chain, name + 32);
	}
	to->name.state = kind;
	to->name.bytes = (__u32)read_perl_name(chain, to->name.text, &length, name);
	to->name.length = length;
	package = flags & FT_PERL_LEXICAL ? 0 : package_name(chain, package);
	bytes = read_perl_name(chain, to->lines, &to->lines_size, package);
	end_function(to, bytes, sent, hash);
}

/* Takes the file of the statement in hand as what runs. Returns the cookie of it as that kind. */
static __always_inline __u32 read_perl_file(struct chain_scratch *chain, __u32 kind)
{
	struct ft_text *to = &chain->function.file;
	__u64 hash, last, first;

	chain->code = word_at(chain, chain->record + FT_PERL_STATEMENT_FILE);
	read_perl_text(to, chain->code);
	first = *(__u64 *)to->text;
	/* A short one is followed by the rest of the text before. */
	if (to->length < 8)
		first &= (1ULL << (to->length & 7) * 8) - 1;
	last = (to->length >> 3) - 1;
	FT_MASKED(last, 31);
	hash = mix(to->length << 8 | kind, first);
	if (to->length >= 8)
		hash = mix(hash, ((__u64 *)to->text)[last]);
	return (__u32)(hash >> 8) | 1;
}

/* Sends what read_perl_file() took. */
static __always_inline void send_perl_file(struct stack_scratch *scratch,
					   struct chain_scratch *chain, __u32 cookie, __u32 kind)
{
	struct ft_function *to = &chain->function;
	__u64 hash, *sent = begin_function(scratch, chain, cookie, &hash);

	if (!sent)
		return;
	to->minor = chain->perl.version;
	to->runtime = FT_RUNTIME_PERL;
	to->first_line = 0;
	to->file.state = 0;
	to->name.state = kind;
	to->name.length = to->name.bytes = to->lines_size = 0;
	end_function(to, 0, sent, hash);
}

#endif
