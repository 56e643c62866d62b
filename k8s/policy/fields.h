// SPDX-License-Identifier: Apache-2.0
// Every field of the policy kinds, once: its name, its bounds, its member, and the rules that look
// at several. A visitor does the rest: Reader fills the members from a document, Describer lists
// the fields so that a test can compare them with the CRDs. Bounds, patterns and rule messages are
// those of the schema, to the letter.
//
// A visitor has, all taking the field's name first:
//   cluster()                         whether the kind is ClusterProfilingPolicy
//   Integer, Boolean, Choice, Text, Amount (a quantity), Object, Strings, Objects, StringMap
//   Rule(holds, message, field)       called after the fields of its object
#pragma once

#include "k8s/policy/bounds.h"
#include "k8s/policy/policy.h"
#include "k8s/policy/trigger_fields.h"

namespace firetower::k8s {

inline bool HasRequirements(const std::optional<LabelSelector>& selector) {
  return selector->match_labels.has_value() || selector->match_expressions.has_value();
}

template <typename V>
void Visit(V& v, SelectorRequirement& r) {
  v.Text("key", r.key, {1, 317}, Presence::kRequired);
  v.Choice("operator", r.op, Presence::kRequired);
  v.Strings("values", r.values, {32}, kLabelValue);
  v.Rule(
      [&] {
        const bool wants = r.op == SelectorOperator::kIn || r.op == SelectorOperator::kNotIn;
        return wants != r.values.empty();
      },
      "values are required for In and NotIn, and not allowed for Exists and DoesNotExist", "");
}

template <typename V>
void Visit(V& v, LabelSelector& s) {
  v.StringMap("matchLabels", s.match_labels, 32, kLabelValue);
  v.Objects("matchExpressions", s.match_expressions, {32});
}

template <typename V>
void Visit(V& v, WorkloadRef& r) {
  v.Choice("kind", r.kind, Presence::kRequired);
  v.Text("name", r.name, kDnsName, Presence::kRequired);
}

template <typename V>
void Visit(V& v, ContainerNames& c) {
  v.Strings("include", c.include, {32, 0, ListType::kSet}, kName);
  v.Strings("exclude", c.exclude, {32, 0, ListType::kSet}, kName);
}

template <typename V>
void Visit(V& v, Targets& t) {
  v.Object("podSelector", t.pod_selector);
  v.Objects("workloadRefs", t.workload_refs, {32, 0, ListType::kMap, "kind,name"});
  v.Object("containers", t.containers);
  v.Integer("podPercent", t.pod_percent, 1, 100);
  if (v.cluster()) {
    v.Object("namespaceSelector", t.namespace_selector);
    v.Choice("hostProcesses", t.host_processes);
  }
  v.Rule([&] { return !t.pod_selector || HasRequirements(t.pod_selector); },
         "an empty podSelector is refused (a misspelt one is pruned to it): write matchLabels: {} "
         "for all pods",
         ".podSelector");
  if (!v.cluster()) {
    v.Rule([&] { return t.pod_selector || !t.workload_refs.empty(); },
           "name at least one of podSelector and workloadRefs", "");
    return;
  }
  v.Rule(
      [&] {
        return t.pod_selector || !t.workload_refs.empty() ||
               t.host_processes == HostProcesses::kInclude;
      },
      "name at least one of podSelector, workloadRefs and hostProcesses: Include", "");
  v.Rule([&] { return !t.namespace_selector || HasRequirements(t.namespace_selector); },
         "an empty namespaceSelector is refused: leave it out for all namespaces",
         ".namespaceSelector");
}

template <typename V>
void Visit(V& v, EventSpec& e) {
  v.Text("name", e.name, {1, 128, "^[a-zA-Z0-9_:.-]+$"}, Presence::kRequired);
  v.Integer("period", e.period, 1, 1000000000);
  v.Integer("frequencyHertz", e.frequency_hertz, 1, 999);
  v.Rule([&] { return e.period.has_value() != e.frequency_hertz.has_value(); },
         "an event needs exactly one of period and frequencyHertz", "");
}

template <typename V>
void Visit(V& v, ProfileSpec& p) {
  v.Choice("type", p.type, Presence::kRequired);
  v.Integer("frequencyHertz", p.frequency_hertz, 1, 999);
  v.Integer("minBlockMicroseconds", p.min_block_microseconds, 1, 60000000);
  v.Integer("sampleBytes", p.sample_bytes, 1024, 1073741824);
  v.Boolean("inUse", p.in_use);
  v.Objects("events", p.events, {8, 1, ListType::kMap, "name"});
  v.Rule([&] { return !p.frequency_hertz || p.type == ProfileType::kCpu; },
         "frequencyHertz belongs to type CPU: remove it from this entry", ".frequencyHertz");
  v.Rule(
      [&] {
        return !p.min_block_microseconds || p.type == ProfileType::kOffCpu ||
               p.type == ProfileType::kLock;
      },
      "minBlockMicroseconds belongs to types OffCPU and Lock: remove it from this entry",
      ".minBlockMicroseconds");
  v.Rule([&] { return !p.sample_bytes || p.type == ProfileType::kMemory; },
         "sampleBytes belongs to type Memory: remove it from this entry", ".sampleBytes");
  v.Rule([&] { return !p.in_use || p.type == ProfileType::kMemory; },
         "inUse belongs to type Memory: remove it from this entry", ".inUse");
  v.Rule([&] { return p.events.empty() != (p.type == ProfileType::kEvent); },
         "events is required for type Event, and belongs to it alone", ".events");
}

template <typename V>
void Visit(V& v, GeneralSpec& g) {
  v.Choice("schedule", g.schedule);
  v.Integer("periodSeconds", g.period_seconds, 60, 86400);
  v.Integer("durationSeconds", g.duration_seconds, 5, 3600);
  v.Rule(
      [&] { return g.schedule == Schedule::kContinuous || g.duration_seconds <= g.period_seconds; },
      "durationSeconds must not exceed periodSeconds: shorten it, or write schedule: Continuous",
      ".durationSeconds");
}

template <typename V>
void Visit(V& v, LimitsSpec& l) {
  v.Amount("cpu", l.cpu, "50m");
  v.Rule([&] { return AboveZero(l.cpu); },
         "cpu must be above zero: to stop the policy write suspend: true", ".cpu");
}

template <typename V>
void Visit(V& v, MetricsExport& m) {
  v.Choice("mode", m.mode);
  v.Integer("topFunctions", m.top_functions, 1, 20);
}

template <typename V>
void Visit(V& v, ObjectStoreExport& o) {
  v.Choice("mode", o.mode);
  v.Choice("retentionClass", o.retention_class);
  v.Choice("isolation", o.isolation);
}

template <typename V>
void Visit(V& v, ExportSpec& e) {
  v.Object("metrics", e.metrics);
  v.Object("objectStore", e.object_store);
}

template <typename V>
void VisitSpecRules(V& v, PolicySpec& s) {
  v.Rule([&] { return !s.general || s.mode == Mode::kGeneral; },
         "general belongs to mode General: remove it, or write mode: General", ".general");
  v.Rule([&] { return s.trigger.has_value() == (s.mode == Mode::kTrigger); },
         "trigger is required in mode Trigger, and belongs to it alone", ".trigger");
  v.Rule(
      [&] {
        return s.export_spec.metrics.mode != MetricsMode::kDisabled ||
               s.export_spec.object_store.mode != ObjectStoreMode::kDisabled;
      },
      "export at least one of metrics and objectStore: nobody would see the profiles", ".export");
  v.Rule([&] { return !s.ttl_seconds_after_finished || s.active_deadline_seconds; },
         "ttlSecondsAfterFinished needs activeDeadlineSeconds: without it a policy never finishes",
         ".ttlSecondsAfterFinished");
  v.Rule([&] { return s.filter || s.mode != Mode::kFilter; },
         "filter is required in mode Filter: it says what is profiled", ".filter");
  v.Rule([&] { return !s.node_selector || HasRequirements(s.node_selector); },
         "nodeSelector is a label selector: write matchLabels or matchExpressions",
         ".nodeSelector");
}

template <typename V>
void Visit(V& v, PolicySpec& s) {
  v.Choice("mode", s.mode, Presence::kRequired);
  v.Object("targets", s.targets, Presence::kRequired);
  v.Object("nodeSelector", s.node_selector);
  v.Objects("profiles", s.profiles, {5, 1, ListType::kMap, "type"});
  v.Choice("stacks", s.stacks);
  v.Object("general", s.general);
  v.Object("trigger", s.trigger);
  v.Object("filter", s.filter);
  v.Object("limits", s.limits);
  v.Object("export", s.export_spec);
  v.Boolean("suspend", s.suspend);
  v.Integer("priority", s.priority, 0, 1000);
  v.Integer("activeDeadlineSeconds", s.active_deadline_seconds, 60, 2592000);
  v.Integer("ttlSecondsAfterFinished", s.ttl_seconds_after_finished, 0, 604800);
  VisitSpecRules(v, s);
}

}  // namespace firetower::k8s
