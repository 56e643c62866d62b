/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Reads what names a method of Ruby's, out of its instruction sequence, when the walk meets it: the
 * interrupted thread holds the frame, which holds the sequence. The layouts of strings and arrays
 * are those of include/ruby/internal/core/rstring.h and rarray.h, those of sequences vm_core.h's.
 */
#ifndef FIRETOWER_BPF_WALK_RUBY_FUNCTION_H
#define FIRETOWER_BPF_WALK_RUBY_FUNCTION_H

#include "bpf/walk/chain_frames.h"

#define FT_RUBY_TYPE(flags) ((flags)&0x1f)
#define FT_RUBY_STRING 0x05
#define FT_RUBY_ARRAY 0x07
/* RSTRING_NOEMBED and RARRAY_EMBED_FLAG share a bit. */
#define FT_RUBY_USER1 (1ULL << 13)

/* struct rb_iseq_constant_body: iseq_size, iseq_encoded, location.pathobj and label */
#define FT_RUBY_POSITIONS 4
#define FT_RUBY_CODE 8
#define FT_RUBY_PATH 64
#define FT_RUBY_LABEL 80

/* 1: a value is an object, not a number, nil or another constant. */
static __always_inline int is_ruby_object(__u64 value)
{
	return value > 0x100 && !(value & 7);
}

static __always_inline void read_ruby_text(struct chain_scratch *chain, struct ft_text *to,
					   __u64 string)
{
	__u64 flags, bytes, text = string + (chain->ruby.string_length ? 24 : 16);

	to->length = to->bytes = to->state = 0;
	if (!is_ruby_object(string))
		return;
	flags = word_at(chain, string);
	if (FT_RUBY_TYPE(flags) != FT_RUBY_STRING)
		return;
	if (chain->ruby.string_length || flags & FT_RUBY_USER1)
		to->length = word_at(chain, string + 16);
	else
		to->length = flags >> 14 & 31;
	if (flags & FT_RUBY_USER1)
		text = word_at(chain, string + 24);
	bytes = to->length < 255 ? to->length : 255;
	FT_MASKED(bytes, 255);
	if (!bpf_probe_read_user(to->text, bytes, (void *)text))
		to->bytes = (__u32)bytes;
}

/* Returns the file of a sequence: of an array {path, real path} the latter, where it has one. */
static __always_inline __u64 ruby_file(struct chain_scratch *chain, __u64 path)
{
	__u64 flags = is_ruby_object(path) ? word_at(chain, path) : 0, real;

	if (FT_RUBY_TYPE(flags) != FT_RUBY_ARRAY)
		return path;
	path = flags & FT_RUBY_USER1 ? path + 16 : word_at(chain, path + 32);
	real = word_at(chain, path + 8);
	return is_ruby_object(real) ? real : word_at(chain, path);
}

/* Reads the body of a sequence. Returns 0, or -1 if it is not resident. */
static __always_inline int read_ruby_body(struct chain_scratch *chain, __u64 sequence)
{
	chain->code = word_at(chain, sequence + 16);
	return bpf_probe_read_user(chain->code_bytes, FT_RUBY_BODY_BYTES, (void *)chain->code);
}

/* Returns what tells the body in hand from others that stood at its address before. */
static __always_inline __u32 ruby_cookie(struct chain_scratch *chain)
{
	__u64 hash = mix(FT_CODE_WORD(chain, FT_RUBY_CODE), FT_CODE_WORD(chain, FT_RUBY_LABEL));

	return (__u32)(mix(hash, FT_CODE_WORD(chain, FT_RUBY_PATH)) >> 8) | 1;
}

/* Reads the table of lines behind the name. Returns its bytes. */
static __always_inline __u64 read_ruby_lines(struct chain_scratch *chain)
{
	struct ft_ruby_lines *to = (struct ft_ruby_lines *)chain->function.lines;
	__u16 lines = chain->ruby.lines;
	__u64 bytes, index = FT_CODE_WORD(chain, lines + 24);

	to->positions = *(__u32 *)(chain->code_bytes + FT_RUBY_POSITIONS);
	to->entries = (__u32)FT_CODE_WORD(chain, lines + 16);
	if (!to->entries)
		return 0;
	/* A function of one entry has no index. */
	bytes = sizeof(to->immediate);
	if (to->positions > FT_RUBY_IMMEDIATE)
		bytes += ((to->positions - FT_RUBY_IMMEDIATE + 511) / 512) * 80ULL;
	if (bytes > sizeof(to->immediate) + sizeof(to->block))
		bytes = sizeof(to->immediate) + sizeof(to->block);
	FT_MASKED(bytes, 511);
	if (to->entries > 1 && bpf_probe_read_user(to->immediate, bytes, (void *)index))
		return 0;
	bytes = (__u64)to->entries * chain->ruby.entry_bytes;
	if (bytes > FT_FUNCTION_LINES - 512)
		bytes = FT_FUNCTION_LINES - 512;
	FT_MASKED(bytes, 4095);
	if (bytes > FT_FUNCTION_LINES - sizeof(*to) ||
	    bpf_probe_read_user(chain->function.lines + sizeof(*to), bytes,
				(void *)FT_CODE_WORD(chain, lines)))
		return 0;
	return sizeof(*to) + bytes;
}

/* Sends the function of the body in hand, unless it went before in this epoch. */
static __always_inline void send_ruby_function(struct stack_scratch *scratch,
					       struct chain_scratch *chain, __u32 cookie)
{
	struct ft_function *to = &chain->function;
	__u64 hash, bytes, *sent = begin_function(scratch, chain, cookie, &hash);

	if (!sent)
		return;
	to->minor = chain->ruby.version;
	to->runtime = FT_RUNTIME_RUBY;
	to->first_line = *(__u32 *)(chain->code_bytes + (chain->ruby.first_line & 252));
	if (chain->ruby.first_line_tagged)
		to->first_line >>= 1;
	read_ruby_text(chain, &to->name, FT_CODE_WORD(chain, FT_RUBY_LABEL));
	read_ruby_text(chain, &to->file, ruby_file(chain, FT_CODE_WORD(chain, FT_RUBY_PATH)));
	bytes = read_ruby_lines(chain);
	to->lines_size = (__u32)bytes;
	end_function(to, bytes, sent, hash);
}

#endif
