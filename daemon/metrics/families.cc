// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/families.h"

#include <fmt/core.h>

#include "base/check.h"

namespace firetower::daemon {
namespace {

constexpr MetricKind kCounter = MetricKind::kCounter;
constexpr MetricKind kGauge = MetricKind::kGauge;
constexpr MetricKind kInfo = MetricKind::kInfo;

// In the order of MetricId.
constexpr FamilySpec kFamilies[] = {
    {MetricId::kCpuSeconds, "firetower_cpu_seconds_total", kCounter, "namespace,pod,container", "",
     1024,
     "CPU time of a container in samples, as seen and never scaled: between the turns of a "
     "Periodic policy it stands still, so that a rate over several turns is too low by "
     "durationSeconds of periodSeconds, and shares are right."},
    {MetricId::kHotspotCpuSeconds, "firetower_hotspot_cpu_seconds_total", kCounter,
     "namespace,pod,container,function,binary", "", 300,
     "CPU time of a container by the function on top of the stack; function=\"other\" is the rest. "
     "The series of a container add up to its firetower_cpu_seconds_total, and are of the same "
     "turns."},
    {MetricId::kWorkloadInfo, "firetower_workload_info", kInfo,
     "namespace,pod,workload_kind,workload", "", 1024,
     "What a pod of firetower_cpu_seconds_total belongs to; join it on namespace and pod."},
    {MetricId::kSamples, "firetower_samples_total", kCounter, "", "", 1, "Samples taken."},
    {MetricId::kSamplesLost, "firetower_samples_lost_total", kCounter, "reason", "", 16,
     "Samples, stack bodies and records that were lost, by reason; those of exec and no_cgroup are "
     "kept, without a user stack or a container; those of recorder are missing in captures only."},
    {MetricId::kRefused, "firetower_refused_total", kCounter, "reason",
     "address_spaces,bad_records,capture_stalls,captures,cgroups,gate_full,mappings,modules,"
     "stack_bodies,unwind_tables",
     10,
     "What met a bound: mappings of a process without room in BPF memory (address_spaces), records "
     "that made no sense (bad_records), times the rings had to wait for the daemon "
     "(capture_stalls), captures ordered while as many were under way as may be (captures), "
     "cgroups beyond those it keeps (cgroups) or that can have a verdict of "
     "their own (gate_full), mappings beyond those kept of a process (mappings), files whose code "
     "counts as unknown (modules), stacks that were lost (stack_bodies), tables too large "
     "(unwind_tables)."},
    {MetricId::kAttribution, "firetower_attribution_total", kCounter, "result",
     "container,host,pending,unknown", 4,
     "Samples by what they were attributed to; those that had to wait for it are pending too."},
    {MetricId::kPodSamples, "firetower_pod_samples_total", kCounter, "names",
     "known,late,missing,opted_out", 4,
     "Samples of pods in windows that ended, by their pod object: known in time, late (they "
     "waited for it), missing (they are called after their cgroup), or opted out (left out, as is "
     "what no policy takes after all)."},
    {MetricId::kUnwindFailures, "firetower_unwind_failures_total", kCounter, "reason", "", 16,
     "Stacks that were cut, by reason; those of no_registers are among those of page."},
    {MetricId::kColdSamples, "firetower_cold_samples_total", kCounter, "result", "sent,limited", 2,
     "Samples in code whose unwind table was not there yet: sent to be finished by the daemon, or "
     "cut because there were too many of them."},
    {MetricId::kUnwindTables, "firetower_unwind_tables", kGauge, "", "", 1,
     "Binaries whose unwind table is in BPF memory."},
    {MetricId::kUnwindTableBytes, "firetower_unwind_table_bytes", kGauge, "", "", 1,
     "Size of these tables."},
    {MetricId::kSymbolLookups, "firetower_symbol_lookups_total", kCounter, "result", "", 16,
     "Frames by how they were named."},
    {MetricId::kPolicies, "firetower_policies", kGauge, "kind,state", "", 18,
     "Profiling policies by kind and state."},
    {MetricId::kGovernedPolicies, "firetower_governed_policies", kGauge, "rate",
     "dropped,full,lowered", 3,
     "Policies that ask for a rate or were lowered, by what they get: what they asked for, less, "
     "or "
     "none, since the daemon would cost more than the sum of their limits.cpu."},
    {MetricId::kGovernorSteps, "firetower_governor_steps_total", kCounter, "", "", 1,
     "Times that a policy's rate was halved, or a policy dropped, for the budget."},
    {MetricId::kBudgetCores, "firetower_budget_cores", kGauge, "", "", 1,
     "What the daemon may cost for policies with limits.cpu, their sum; +Inf while none has one."},
    {MetricId::kBudgetExceeded, "firetower_budget_exceeded", kGauge, "resource", "cpu,memory", 2,
     "1 while the daemon costs more than that, or has nine tenths of --memory-limit-bytes."},
    {MetricId::kTriggerEvaluations, "firetower_trigger_evaluations_total", kCounter,
     "policy_namespace,policy", "", 256, "Readings compared with a threshold of a trigger."},
    {MetricId::kTriggerCaptures, "firetower_trigger_captures_total", kCounter,
     "policy_namespace,policy", "", 256, "Captures that triggers made."},
    {MetricId::kTriggerSuppressed, "firetower_trigger_suppressed_total", kCounter,
     "policy_namespace,policy,reason", "", 1024,
     "Times the rules of a trigger held and no capture was made, by reason."},
    {MetricId::kKubeRequests, "firetower_kube_requests_total", kCounter, "verb,resource,code", "",
     60, "Requests to the API server by their answer; code=\"0\": there was none."},
    {MetricId::kKubeWatchRestarts, "firetower_kube_watch_restarts_total", kCounter,
     "resource,reason", "", 60, "Watches of the API server that ended, by reason."},
    {MetricId::kKubeObjectsSkipped, "firetower_kube_objects_skipped_total", kCounter,
     "resource,reason", "", 20, "Objects and events of the API server that were left out."},
    {MetricId::kKubeSynced, "firetower_kube_synced", kGauge, "resource", "", 10,
     "1 while what is known of a kind of object is what the API server has."},
    {MetricId::kKubeLastSync, "firetower_kube_last_sync_timestamp_seconds", kGauge, "resource", "",
     10, "When the API server last told something of that kind, in Unix time; 0: never."},
    {MetricId::kStoreOperations, "firetower_objectstore_operations_total", kCounter, "operation",
     "put,retention,spool", 3,
     "Writes, and rounds of retention, that were begun; what questions read is not among them."},
    {MetricId::kStoreFailures, "firetower_objectstore_failures_total", kCounter, "operation",
     "put,retention,spool", 3, "Writes, and rounds of retention, that failed."},
    {MetricId::kStoreSeconds, "firetower_objectstore_duration_seconds", MetricKind::kHistogram,
     "operation", "put,retention,spool", 3, "Time that a write, or a round of retention, took."},
    {MetricId::kStoreClockSkew, "firetower_objectstore_clock_skew_seconds", kGauge, "", "", 1,
     "The store's clock minus this machine's, as it told in the last ten minutes; 0 while both "
     "may be right."},
    {MetricId::kSpoolBytes, "firetower_spool_bytes", kGauge, "", "", 1,
     "What waits in the spool for the store."},
    {MetricId::kSpoolDroppedProfiles, "firetower_spool_dropped_profiles_total", kCounter, "", "", 1,
     "Profiles that the spool had no room for until the store took them, that it refused for "
     "good, or that the disk damaged."},
    {MetricId::kPushProfiles, "firetower_push_profiles_total", kCounter, "server,result", "", 12,
     "Profiles of windows for the servers of --push: sent, dropped before they were, or refused."},
    {MetricId::kPushRequests, "firetower_push_requests_total", kCounter, "server,result", "", 12,
     "Requests to these servers: ok, failed (they are tried again), or refused."},
    {MetricId::kPushQueueBytes, "firetower_push_queue_bytes", kGauge, "server", "", 4,
     "Size of what waits for such a server."},
    {MetricId::kTlsExpiry, "firetower_tls_certificate_expiration_timestamp_seconds", kGauge, "", "",
     1, "When the certificate of --tls-cert-file in use expires, in Unix time; 0 without TLS."},
    {MetricId::kTlsRefused, "firetower_tls_certificates_refused_total", kCounter, "", "", 1,
     "New contents of --tls-cert-file and --tls-private-key-file that could not be used, so that "
     "the certificate before stayed."},
    {MetricId::kOverheadCpuSeconds, "firetower_overhead_cpu_seconds_total", kCounter, "component",
     "capture,resolve,tables,symbols,export,outbox,upload,push,watch,control,http,bpf,other", 13,
     "CPU time the daemon itself costs, by its threads; bpf is what its programs cost the sampled "
     "CPUs."},
    {MetricId::kBpfRunSeconds, "firetower_bpf_run_seconds_total", kCounter, "", "", 1,
     "Run time of the sampling program, as it measures it on every 16th run."},
    {MetricId::kBpfMapBytes, "firetower_bpf_map_bytes", kGauge, "", "", 1,
     "Memory of the BPF maps."},
    {MetricId::kMetricSeries, "firetower_metric_series", kGauge, "family",
     "firetower_cpu_seconds_total,firetower_hotspot_cpu_seconds_total", 10,
     "Series of the per-container families."},
    {MetricId::kMetricSeriesDropped, "firetower_metric_series_dropped_total", kCounter, "family",
     "firetower_cpu_seconds_total,firetower_hotspot_cpu_seconds_total", 10,
     "Series refused or taken away by a cap; one that stays refused counts once a slice."},
    {MetricId::kUserReadsRefused, "firetower_user_reads_refused", kGauge, "", "", 1,
     "1 where the kernel can freeze on BPF reads of user memory, so that user stacks are off."},
    {MetricId::kHostPidsHidden, "firetower_host_pids_hidden", kGauge, "", "", 1,
     "1 where the daemon is in a PID namespace of its own (a pod without hostPID), so that it "
     "knows "
     "no process of other containers and user frames have no names."},
    {MetricId::kBuildInfo, "firetower_build_info", kInfo, "version", "", 1, "The daemon's build."},
    {MetricId::kFeatureInfo, "firetower_feature_info", kInfo, "kernel,cgroup_mode,unwinder", "", 1,
     "What the daemon found on this machine."},
    {MetricId::kProcessCpuSeconds, "process_cpu_seconds_total", kCounter, "", "", 1,
     "User and system CPU time of the daemon."},
    {MetricId::kProcessResidentBytes, "process_resident_memory_bytes", kGauge, "", "", 1,
     "Resident memory of the daemon."},
    {MetricId::kProcessVirtualBytes, "process_virtual_memory_bytes", kGauge, "", "", 1,
     "Virtual memory of the daemon."},
    {MetricId::kProcessOpenFds, "process_open_fds", kGauge, "", "", 1,
     "Open file descriptors of the daemon."},
    {MetricId::kProcessMaxFds, "process_max_fds", kGauge, "", "", 1,
     "Most file descriptors the daemon may open."},
    {MetricId::kProcessStartTime, "process_start_time_seconds", kGauge, "", "", 1,
     "Start of the daemon, in seconds since the Unix epoch."},
};
static_assert(std::size(kFamilies) == kMetricCount);

}  // namespace

std::span<const FamilySpec> MetricFamilies() { return kFamilies; }

const FamilySpec& SpecOf(MetricId id) {
  const FamilySpec& spec = kFamilies[static_cast<size_t>(id)];
  CHECK(spec.id == id);
  return spec;
}

std::string MetricsMarkdown() {
  std::string out =
      "# Metrics of firetowerd\n\n"
      "Generated from `daemon/metrics/families.cc`; change that table instead.\n\n"
      "`GET /metrics` answers in the Prometheus text format 0.0.4, and in OpenMetrics 1.0.0 to a\n"
      "scraper that asks for it. OpenMetrics names a counter's family without `_total`.\n\n"
      "Function series are sticky: a function keeps its place at least ten minutes, and loses it\n"
      "only to one that had more self time in two windows running. Time of a function without a\n"
      "series is in `function=\"other\"`, which takes over what a function had whose series ends: "
      "at\n"
      "any scrape the series of a container add up to its `firetower_cpu_seconds_total`. A rate "
      "of\n"
      "`other` over such a moment shows that past once more: for what `other` does now, take the\n"
      "container's rate less those of the named functions. A function that comes back begins at "
      "0.\n"
      "Series of a container end two minutes after it.\n\n"
      "| Metric | Type | Labels | Most series | Meaning |\n|---|---|---|---|---|\n";
  for (const FamilySpec& spec : kFamilies) {
    std::string most = fmt::format("{}", spec.max_series);
    if (spec.id == MetricId::kHotspotCpuSeconds) most = "`--metrics-max-series`";
    if (spec.kind == MetricKind::kHistogram) most += " label sets";
    out +=
        fmt::format("| `{}` | {} | {} | {} | {} |\n", spec.name, service::KindName(spec.kind),
                    spec.labels.empty() ? "" : fmt::format("`{}`", spec.labels), most, spec.help);
  }
  return out;
}

}  // namespace firetower::daemon
