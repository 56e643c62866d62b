// SPDX-License-Identifier: Apache-2.0
// The fields of modes Trigger and Filter; fields.h explains visitors.
#pragma once

#include "k8s/document/pattern.h"
#include "k8s/policy/bounds.h"
#include "k8s/policy/policy.h"

namespace firetower::k8s {

template <typename V>
void Visit(V& v, TriggerTarget& t) {
  v.Choice("type", t.type, Presence::kRequired);
  v.Integer("utilizationPercent", t.utilization_percent, 1, 10000);
  v.Amount("value", t.value);
  v.Rule([&] { return t.utilization_percent.has_value() == (t.type == TargetType::kUtilization); },
         "utilizationPercent is required for type Utilization, and belongs to it alone", "");
  v.Rule([&] { return t.value.has_value() == (t.type == TargetType::kValue); },
         "value is required for type Value, and belongs to it alone", "");
  v.Rule([&] { return !t.value || AboveZero(*t.value); },
         "value must be above zero: every reading would be on one side of it", "");
}

template <typename V>
void Visit(V& v, TriggerRule& r) {
  v.Text("name", r.name, kName, Presence::kRequired);
  v.Choice("metric", r.metric, Presence::kRequired,
           v.cluster() ? kAllChoices : static_cast<size_t>(Metric::kOomKill) + 1);
  v.Choice("operator", r.op);
  v.Object("target", r.target);
  v.Integer("forSeconds", r.for_seconds, 0, 3600);
  if (v.cluster()) v.Choice("cpus", r.cpus);
  v.Rule([&] { return r.target.has_value() == (r.metric != Metric::kOomKill); },
         "target is required, but for OOMKill, which has no threshold", ".target");
  v.Rule([&] { return r.op.has_value() == (r.metric != Metric::kOomKill); },
         "operator is required, but for OOMKill, which has no threshold", ".operator");
  v.Rule(
      [&] {
        return !r.target || r.target->type == TargetType::kUtilization ||
               !EnumName(r.metric).ends_with("Pressure");
      },
      "pressure is given in percent of time: write type: Utilization and utilizationPercent",
      ".target");
  if (!v.cluster()) return;
  v.Rule(
      [&] {
        return !r.cpus || r.metric == Metric::kNodeCpuUser || r.metric == Metric::kNodeCpuSystem;
      },
      "cpus belongs to NodeCPUUser and NodeCPUSystem: remove it from this rule", ".cpus");
}

template <typename V>
void Visit(V& v, CaptureSpec& c) {
  v.Integer("preTriggerSeconds", c.pre_trigger_seconds, 0, 300);
  v.Integer("durationSeconds", c.duration_seconds, 5, 600);
  v.Integer("frequencyHertz", c.frequency_hertz, 1, 999);
  v.Choice("scope", c.scope, Presence::kOptional,
           v.cluster() ? kAllChoices : static_cast<size_t>(CaptureScope::kPod) + 1);
}

template <typename V>
void Visit(V& v, TriggerSpec& t) {
  v.Objects("rules", t.rules, {8, 1, ListType::kMap, "name"}, Presence::kRequired);
  v.Choice("combine", t.combine);
  v.Integer("armedFrequencyHertz", t.armed_frequency_hertz, 0, 99);
  v.Object("capture", t.capture);
  v.Integer("cooldownSeconds", t.cooldown_seconds, 0, 86400);
  v.Integer("resetPercent", t.reset_percent, 0, 100);
  v.Integer("maxCapturesPerHour", t.max_captures_per_hour, 1, 60);
  v.Rule([&] { return t.capture.pre_trigger_seconds == 0 || t.armed_frequency_hertz > 0; },
         "preTriggerSeconds above 0 needs armedFrequencyHertz above 0: nothing is sampled before",
         "");
  v.Rule(
      [&] {
        if (t.combine == Combine::kAnyOf) return true;
        for (const TriggerRule& rule : t.rules) {
          if (rule.metric == Metric::kOomKill) return false;
        }
        return true;
      },
      "OOMKill is an instant, which AllOf cannot combine: write combine: AnyOf, or two policies",
      "");
}

template <typename V>
void Visit(V& v, ProcessFilter& p) {
  v.Text("comm", p.comm, kThreadName);
  v.Text("executable", p.executable, {1, 4095, "^/"});
  v.Text("commandLineRegex", p.command_line_regex, {1, 256});
  if (v.cluster()) v.Integer("pid", p.pid, 1, 4194304);
  v.Rule([&] { return p.comm || p.executable || p.command_line_regex || p.pid; },
         "an empty entry would match everything: name what a process must be", "");
  v.Rule([&] { return !p.command_line_regex || RegexError(*p.command_line_regex).empty(); },
         "commandLineRegex must be an RE2 expression, which has no backreference and no lookaround",
         ".commandLineRegex");
}

template <typename V>
void Visit(V& v, FilterSpec& f) {
  v.Objects("processes", f.processes, {16});
  v.Strings("threads", f.threads, {16, 0, ListType::kSet}, kThreadName);
  v.Text("cpus", f.cpus, kCpuList);
  v.Rule([&] { return !f.processes.empty() || !f.threads.empty() || f.cpus; },
         "name at least one of processes, threads and cpus", "");
}

}  // namespace firetower::k8s
