// SPDX-License-Identifier: Apache-2.0
// ProfilingPolicy and ClusterProfilingPolicy (firetower.dev/v1alpha1) as values. The CRDs in crd/
// are the schema; fields.h maps each member to its field, and a test compares the two. A member's
// initial value is the schema's default; std::optional means that the field has no default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "k8s/document/quantity.h"
#include "k8s/policy/enums.h"
#include "k8s/selector.h"

namespace firetower::k8s {

struct WorkloadRef {
  WorkloadKind kind = WorkloadKind::kDeployment;
  std::string name;
};

struct ContainerNames {
  std::vector<std::string> include;  // empty: all
  std::vector<std::string> exclude;
};

struct Targets {
  std::optional<LabelSelector> pod_selector;  // absent: no pods; matchLabels {}: all
  std::vector<WorkloadRef> workload_refs;     // added to those of the selector
  std::optional<ContainerNames> containers;
  int64_t pod_percent = 100;
  // Cluster kind only.
  std::optional<LabelSelector> namespace_selector;  // absent: all namespaces
  HostProcesses host_processes = HostProcesses::kExclude;
};

struct EventSpec {
  std::string name;
  std::optional<int64_t> period;  // exactly one of the two
  std::optional<int64_t> frequency_hertz;
};

struct ProfileSpec {
  ProfileType type = ProfileType::kCpu;
  std::optional<int64_t> frequency_hertz;         // CPU; kDefaultFrequencyHertz
  std::optional<int64_t> min_block_microseconds;  // OffCPU, Lock; kDefaultMinBlockMicroseconds
  std::optional<int64_t> sample_bytes;            // Memory; kDefaultSampleBytes
  bool in_use = false;                            // Memory
  std::vector<EventSpec> events;                  // Event
};
inline constexpr int64_t kDefaultFrequencyHertz = 49;
inline constexpr int64_t kDefaultMinBlockMicroseconds = 1000;
inline constexpr int64_t kDefaultSampleBytes = 512 << 10;
// The event that shows by which stacks memory grows. Type Memory has it, at kDefaultFrequencyHertz.
inline constexpr std::string_view kPageFaults = "page-faults";

struct GeneralSpec {
  Schedule schedule = Schedule::kPeriodic;
  int64_t period_seconds = 300;
  int64_t duration_seconds = 60;
};

struct TriggerTarget {
  TargetType type = TargetType::kUtilization;
  std::optional<int64_t> utilization_percent;
  std::optional<Quantity> value;

  bool operator==(const TriggerTarget&) const = default;
};

struct TriggerRule {
  std::string name;
  Metric metric = Metric::kContainerCpu;
  std::optional<Operator> op;
  std::optional<TriggerTarget> target;
  std::optional<int64_t> for_seconds;  // kDefaultForSeconds
  std::optional<CpuScope> cpus;        // cluster kind; kAll

  bool operator==(const TriggerRule&) const = default;
};
inline constexpr int64_t kDefaultForSeconds = 15;

struct CaptureSpec {
  int64_t pre_trigger_seconds = 30;
  int64_t duration_seconds = 60;
  int64_t frequency_hertz = 97;
  CaptureScope scope = CaptureScope::kPod;

  bool operator==(const CaptureSpec&) const = default;
};

struct TriggerSpec {
  std::vector<TriggerRule> rules;
  Combine combine = Combine::kAnyOf;
  int64_t armed_frequency_hertz = 19;
  CaptureSpec capture;
  int64_t cooldown_seconds = 600;
  int64_t reset_percent = 10;
  int64_t max_captures_per_hour = 6;

  bool operator==(const TriggerSpec&) const = default;
};

struct ProcessFilter {
  std::optional<std::string> comm;
  std::optional<std::string> executable;
  std::optional<std::string> command_line_regex;  // RE2
  std::optional<int64_t> pid;                     // cluster kind only
};

struct FilterSpec {
  std::vector<ProcessFilter> processes;  // any of these; the members of one all hold
  std::vector<std::string> threads;
  std::optional<std::string> cpus;  // the kernel's CPU list
};

struct LimitsSpec {
  Quantity cpu{0, 50000000};  // 50m
};

struct MetricsExport {
  MetricsMode mode = MetricsMode::kTopFunctions;
  int64_t top_functions = 5;
};

struct ObjectStoreExport {
  ObjectStoreMode mode = ObjectStoreMode::kEnabled;
  RetentionClass retention_class = RetentionClass::kStandard;
  Isolation isolation = Isolation::kNode;
};

struct ExportSpec {
  MetricsExport metrics;
  ObjectStoreExport object_store;
};

struct PolicySpec {
  Mode mode = Mode::kGeneral;
  Targets targets;
  std::optional<LabelSelector> node_selector;  // absent: all nodes
  std::vector<ProfileSpec> profiles;           // empty: CPU
  Stacks stacks = Stacks::kUserAndKernel;
  std::optional<GeneralSpec> general;  // absent in mode General: its defaults
  std::optional<TriggerSpec> trigger;
  std::optional<FilterSpec> filter;
  std::optional<LimitsSpec> limits;
  ExportSpec export_spec;
  bool suspend = false;
  int64_t priority = 0;
  std::optional<int64_t> active_deadline_seconds;
  std::optional<int64_t> ttl_seconds_after_finished;
};

struct ProfilingPolicy {
  bool cluster = false;  // the kind: ClusterProfilingPolicy
  std::string name;
  std::string namespace_name;  // of the namespaced kind; "default" when the document has none
  Labels labels;
  PolicySpec spec;
  std::string source;  // file it came from, with the line: "policies.yaml:12"; for messages
  // Of an API server's object only.
  std::string uid;
  int64_t generation = 0;
  int64_t created_ns = 0;  // Unix time
};

// Returns "ProfilingPolicy default/checkout" or "ClusterProfilingPolicy nodes": the identity, for
// messages.
std::string DisplayName(const ProfilingPolicy& policy);

// Returns the settings of a policy in mode General, with defaults for missing ones.
GeneralSpec EffectiveGeneral(const PolicySpec& spec);
// Tells whether its captures cover the whole node, whatever its rules are about.
bool CapturesNode(const PolicySpec& spec);

// Returns the options of a profile type that the policy asks for; nullopt when it does not. A
// policy without profiles asks for CPU.
std::optional<ProfileSpec> FindProfile(const PolicySpec& spec, ProfileType type);

// Returns the CPU sampling rate; 0 when the policy does not ask for CPU profiles.
int64_t CpuFrequencyHertz(const PolicySpec& spec);
// Returns the shortest wait that profiles of that type count, kOffCpu or kLock, in microseconds;
// nullopt when the policy does not ask for them.
std::optional<int64_t> MinBlockMicroseconds(const PolicySpec& spec, ProfileType type);
// Returns of how many allocated bytes one is a sample; nullopt when the policy does not ask for
// profiles of memory.
std::optional<int64_t> SampleBytes(const PolicySpec& spec);
// Tells whether the policy asks for what is in use, too.
bool SamplesInUse(const PolicySpec& spec);
// Tells whether an event's name is that of a tracepoint: "sched:sched_switch", and not "cycles:u".
bool IsTracepoint(std::string_view event);
// Returns the events that the policy asks for, those that another type needs among them.
// Tracepoints show what the whole kernel does, so only cluster policies have them.
std::vector<EventSpec> EventsOf(const ProfilingPolicy& policy);

}  // namespace firetower::k8s
