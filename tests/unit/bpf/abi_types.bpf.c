// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * Every struct of bpf/abi as the BPF compiler lays it out. The real objects tell only of types that
 * a map or a function of theirs names: a sample is neither.
 */

#include "bpf/abi/config.h"
#include "bpf/abi/counters.h"
#include "bpf/abi/hotspot.h"
#include "bpf/abi/record.h"
#include "bpf/abi/runtime.h"
#include "bpf/abi/unwind.h"
#include "bpf/abi/v8.h"

struct {
  struct ft_sample sample;
  struct ft_stack stack;
  struct ft_cgroup_event cgroup_event;
  struct ft_verdict verdict;
  struct ft_verdicts verdicts;
  struct ft_config config;
  struct ft_task task;
  struct ft_cpu_set cpu_set;
  struct ft_load_config load_config;
  struct ft_counters counters;
  struct ft_cpu cpu;
  struct ft_cold cold;
  struct ft_python python;
  struct ft_php php;
  struct ft_ruby ruby;
  struct ft_perl perl;
  struct ft_ruby_lines ruby_lines;
  struct ft_text text;
  struct ft_function function;
  struct ft_hotspot_heap hotspot_heap;
  struct ft_hotspot_field hotspot_field;
  struct ft_hotspot hotspot;
  struct ft_v8 v8;
  struct ft_rule rule;
  struct ft_module module;
  struct ft_mapping mapping;
  struct ft_process process;
  struct ft_machine machine;
  struct ft_process_bucket bucket;
} abi_types;
