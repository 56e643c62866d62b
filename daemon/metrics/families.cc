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
     "CPU time of a container as sampled, never scaled. It does not grow between the turns of a "
     "Periodic policy, so a rate over several turns must be divided by "
     "durationSeconds/periodSeconds; shares are correct."},
    {MetricId::kHotspotCpuSeconds, "firetower_hotspot_cpu_seconds_total", kCounter,
     "namespace,pod,container,function,binary", "", 300,
     "CPU time of a container by the function on top of the stack; function=\"other\" is the rest. "
     "The series of a container add up to its firetower_cpu_seconds_total."},
    {MetricId::kOffcpuSeconds, "firetower_offcpu_seconds_total", kCounter,
     "namespace,pod,container", "", 1024,
     "Time that the threads of a container waited for something, a CPU not included: waits of at "
     "least minBlockMicroseconds, added up over threads."},
    {MetricId::kHotspotOffcpuSeconds, "firetower_hotspot_offcpu_seconds_total", kCounter,
     "namespace,pod,container,function,binary", "", 300,
     "This time by the innermost function of user space; function=\"other\" is the rest. The "
     "series "
     "of a container add up to its firetower_offcpu_seconds_total."},
    {MetricId::kLockWaitSeconds, "firetower_lock_wait_seconds_total", kCounter,
     "namespace,pod,container", "", 1024,
     "Time that the threads of a container waited for locks: waits of at least "
     "minBlockMicroseconds, added up over threads. Waits for conditions, barriers, semaphores and "
     "other threads are in profiles of type Lock alone."},
    {MetricId::kHotspotLockWaitSeconds, "firetower_hotspot_lock_wait_seconds_total", kCounter,
     "namespace,pod,container,function,binary", "", 300,
     "This time by the function that took the lock; function=\"other\" is the rest. The series of "
     "a container add up to its firetower_lock_wait_seconds_total."},
    {MetricId::kPageFaults, "firetower_page_faults_total", kCounter, "namespace,pod,container", "",
     1024,
     "Page faults of a container as sampled: each sample counts as the faults since the last one "
     "on its CPU. New memory costs one for each page, so this is what makes memory grow."},
    {MetricId::kHotspotPageFaults, "firetower_hotspot_page_faults_total", kCounter,
     "namespace,pod,container,function,binary", "", 300,
     "These faults by the function that touched the page; function=\"other\" is the rest. The "
     "series of a container add up to its firetower_page_faults_total."},
    {MetricId::kAllocatedBytes, "firetower_allocated_bytes_total", kCounter,
     "namespace,pod,container", "", 1024,
     "Bytes that a container allocated, as sampled: each sample stands for the allocations of its "
     "size since the last one. Memory that is freed again counts as well."},
    {MetricId::kHotspotAllocatedBytes, "firetower_hotspot_allocated_bytes_total", kCounter,
     "namespace,pod,container,function,binary", "", 300,
     "These bytes by the function that called the allocator; function=\"other\" is the rest. The "
     "series of a container add up to its firetower_allocated_bytes_total."},
    {MetricId::kProbedProcesses, "firetower_allocation_processes", kGauge, "state",
     "probed,too_busy,refused", 3,
     "Processes whose allocations policies ask for: those that are sampled; those that allocate "
     "too "
     "often, each call of which would cost a breakpoint; and those that cannot be probed, as the "
     "policy's status says."},
    {MetricId::kRuntimeSamples, "firetower_runtime_samples_total", kCounter, "runtime,result", "",
     128,
     "Samples of CPU time whose stacks come through an interpreter's code, by its version: with "
     "its "
     "functions by name (named), some of them without one (unnamed), none of them (none: it starts "
     "or ends, or is new here), or of a version that is not supported (unsupported)."},
    {MetricId::kWorkloadInfo, "firetower_workload_info", kInfo,
     "namespace,pod,workload_kind,workload", "", 1024,
     "The workload of a pod of the other families; join it on namespace and pod."},
    {MetricId::kSamples, "firetower_samples_total", kCounter, "", "", 1, "Samples taken."},
    {MetricId::kWaits, "firetower_waits_total", kCounter, "", "", 1,
     "Waits told by the kernel side. Each may stand for others of its thread at the same place."},
    {MetricId::kSamplesLost, "firetower_samples_lost_total", kCounter, "reason", "", 16,
     "Lost samples, stack bodies and records by reason. Samples of exec and no_cgroup are kept, "
     "without a user stack or a container; those of recorder are missing only in captures. Waits "
     "are lost when "
     "their record finds no room (waits_ring_full), more threads wait at once than the table "
     "holds "
     "(waits_table_full) or the kernel does not tell the switch that ends one (waits_unseen). "
     "Allocations are lost while another thread, which lost its CPU, has the "
     "memory for their stack (preempted). Tracepoints within another one's sample have no own one "
     "(nested); the next "
     "sample counts them."},
    {MetricId::kRefused, "firetower_refused_total", kCounter, "reason",
     "address_spaces,bad_records,capture_stalls,captures,cgroups,functions,gate_full,mappings,"
     "modules,"
     "stack_bodies,unwind_tables",
     11,
     "Events beyond a limit: processes whose mappings found no room in BPF memory "
     "(address_spaces), invalid records (bad_records), times the rings had to wait for the daemon "
     "(capture_stalls), captures refused because too many were under way (captures), cgroups "
     "beyond the number that is kept (cgroups) or that can have a verdict (gate_full), functions "
     "of "
     "interpreters, which have no names then (functions), mappings "
     "beyond the number that is kept of a process (mappings), files whose code counts as unknown "
     "(modules), lost stacks (stack_bodies), unwind tables that are too large (unwind_tables)."},
    {MetricId::kAttribution, "firetower_attribution_total", kCounter, "result",
     "container,host,pending,unknown", 4,
     "Samples by what they were attributed to. Samples that had to wait for it are counted as "
     "pending too."},
    {MetricId::kPodSamples, "firetower_pod_samples_total", kCounter, "names",
     "known,late,missing,opted_out", 4,
     "Samples of pods in ended windows, by the state of their pod object: known in time, late "
     "(they waited for it), missing (they are named by their cgroup), or opted_out (omitted; also "
     "samples that no policy selects after all)."},
    {MetricId::kUnwindFailures, "firetower_unwind_failures_total", kCounter, "reason", "", 16,
     "Incomplete stacks by reason; those of no_registers are also counted under page."},
    {MetricId::kColdSamples, "firetower_cold_samples_total", kCounter, "result", "sent,limited", 2,
     "Samples in code whose unwind table was not loaded yet: completed by the daemon (sent), or "
     "cut because there were too many (limited)."},
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
     "Policies by the rate that they get: what they ask for (full), less (lowered), or none "
     "(dropped), because the daemon would cost more than the sum of their limits.cpu."},
    {MetricId::kGovernorSteps, "firetower_governor_steps_total", kCounter, "", "", 1,
     "How often the rate of a policy was halved, or a policy was dropped, to stay within the "
     "budget."},
    {MetricId::kBudgetCores, "firetower_budget_cores", kGauge, "", "", 1,
     "CPU budget of the daemon: the sum of the policies' limits.cpu; +Inf if no policy has one."},
    {MetricId::kBudgetExceeded, "firetower_budget_exceeded", kGauge, "resource", "cpu,memory", 2,
     "1 while the daemon uses more than that, or more than nine tenths of --memory-limit-bytes."},
    {MetricId::kTriggerEvaluations, "firetower_trigger_evaluations_total", kCounter,
     "policy_namespace,policy", "", 256, "Readings compared with a threshold of a trigger."},
    {MetricId::kTriggerCaptures, "firetower_trigger_captures_total", kCounter,
     "policy_namespace,policy", "", 256, "Captures that triggers made."},
    {MetricId::kTriggerSuppressed, "firetower_trigger_suppressed_total", kCounter,
     "policy_namespace,policy,reason", "", 1024,
     "How often the rules of a trigger were true but no capture was made, by reason."},
    {MetricId::kKubeRequests, "firetower_kube_requests_total", kCounter, "verb,resource,code", "",
     60, "Requests to the API server by status code; code=\"0\": no answer."},
    {MetricId::kKubeWatchRestarts, "firetower_kube_watch_restarts_total", kCounter,
     "resource,reason", "", 60, "Watches of the API server that ended, by reason."},
    {MetricId::kKubeObjectsSkipped, "firetower_kube_objects_skipped_total", kCounter,
     "resource,reason", "", 20, "Objects and events of the API server that were skipped."},
    {MetricId::kKubeSynced, "firetower_kube_synced", kGauge, "resource", "", 10,
     "1 while the daemon has the API server's current objects of a kind."},
    {MetricId::kKubeLastSync, "firetower_kube_last_sync_timestamp_seconds", kGauge, "resource", "",
     10, "Unix time of the API server's last message about that kind; 0: never."},
    {MetricId::kStoreOperations, "firetower_objectstore_operations_total", kCounter, "operation",
     "put,retention,spool", 3,
     "Writes, and rounds of retention, that were started. Reads for queries are not counted."},
    {MetricId::kStoreFailures, "firetower_objectstore_failures_total", kCounter, "operation",
     "put,retention,spool", 3, "Writes, and rounds of retention, that failed."},
    {MetricId::kStoreSeconds, "firetower_objectstore_duration_seconds", MetricKind::kHistogram,
     "operation", "put,retention,spool", 3, "Time that a write, or a round of retention, took."},
    {MetricId::kStoreClockSkew, "firetower_objectstore_clock_skew_seconds", kGauge, "", "", 1,
     "The store's clock minus this machine's, from answers of the last ten minutes; 0 if there is "
     "no certain difference."},
    {MetricId::kSpoolBytes, "firetower_spool_bytes", kGauge, "", "", 1,
     "Size of the objects that wait in the spool for the store."},
    {MetricId::kSpoolDroppedProfiles, "firetower_spool_dropped_profiles_total", kCounter, "", "", 1,
     "Profiles that were lost: the spool was full, the store will never accept them, or the disk "
     "damaged them."},
    {MetricId::kPushProfiles, "firetower_push_profiles_total", kCounter, "server,result", "", 12,
     "Profiles of windows for the servers of --push: sent, dropped before they could be sent, or "
     "refused."},
    {MetricId::kPushRequests, "firetower_push_requests_total", kCounter, "server,result", "", 12,
     "Requests to these servers: ok, failed (they are tried again), or refused."},
    {MetricId::kPushQueueBytes, "firetower_push_queue_bytes", kGauge, "server", "", 4,
     "Size of the windows that wait for such a server."},
    {MetricId::kTlsExpiry, "firetower_tls_certificate_expiration_timestamp_seconds", kGauge, "", "",
     1, "When the certificate of --tls-cert-file in use expires, in Unix time; 0 without TLS."},
    {MetricId::kTlsRefused, "firetower_tls_certificates_refused_total", kCounter, "", "", 1,
     "New contents of --tls-cert-file and --tls-private-key-file that could not be used, so that "
     "the certificate before stayed."},
    {MetricId::kOverheadCpuSeconds, "firetower_overhead_cpu_seconds_total", kCounter, "component",
     "capture,resolve,tables,symbols,export,outbox,upload,push,watch,control,http,bpf,other", 13,
     "CPU time of the daemon itself by thread; bpf is the time of its programs on the sampled "
     "CPUs."},
    {MetricId::kBpfRunSeconds, "firetower_bpf_run_seconds_total", kCounter, "", "", 1,
     "Run time of the sampling program, measured on every 16th run."},
    {MetricId::kBpfMapBytes, "firetower_bpf_map_bytes", kGauge, "", "", 1,
     "Memory of the BPF maps."},
    {MetricId::kMetricSeries, "firetower_metric_series", kGauge, "family",
     "firetower_cpu_seconds_total,firetower_hotspot_cpu_seconds_total", 10,
     "Series of the per-container families."},
    {MetricId::kMetricSeriesDropped, "firetower_metric_series_dropped_total", kCounter, "family",
     "firetower_cpu_seconds_total,firetower_hotspot_cpu_seconds_total", 10,
     "Series that were refused or removed because of a limit; a series that stays refused counts "
     "once per slice."},
    {MetricId::kUserReadsRefused, "firetower_user_reads_refused", kGauge, "", "", 1,
     "1 if the kernel can freeze on BPF reads of user memory, so user stacks are off."},
    {MetricId::kHostPidsHidden, "firetower_host_pids_hidden", kGauge, "", "", 1,
     "1 if the daemon is in its own PID namespace (a pod without hostPID): it does not see "
     "processes of other containers, and user frames have no names."},
    {MetricId::kBuildInfo, "firetower_build_info", kInfo, "version", "", 1, "The daemon's build."},
    {MetricId::kFeatureInfo, "firetower_feature_info", kInfo, "kernel,cgroup_mode,unwinder", "", 1,
     "Kernel release, cgroup mode and unwinder of this machine."},
    {MetricId::kProcessCpuSeconds, "process_cpu_seconds_total", kCounter, "", "", 1,
     "User and system CPU time of the daemon."},
    {MetricId::kProcessResidentBytes, "process_resident_memory_bytes", kGauge, "", "", 1,
     "Resident memory of the daemon."},
    {MetricId::kProcessVirtualBytes, "process_virtual_memory_bytes", kGauge, "", "", 1,
     "Virtual memory of the daemon."},
    {MetricId::kProcessOpenFds, "process_open_fds", kGauge, "", "", 1,
     "Open file descriptors of the daemon."},
    {MetricId::kProcessMaxFds, "process_max_fds", kGauge, "", "", 1,
     "The maximum number of open file descriptors."},
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
      "A function keeps its series for at least ten minutes, and loses it only to a function that\n"
      "had more self time in two windows in a row. The time of functions without a series is in\n"
      "`function=\"other\"`. When a series ends, its value moves to `other`, so the series of a\n"
      "container add up to its `firetower_cpu_seconds_total` at any scrape. A rate of `other` "
      "over\n"
      "that moment counts this value again: for the present rate of `other`, subtract the rates "
      "of\n"
      "the named functions from the container's rate. A function that comes back starts at 0. The\n"
      "series of a container end two minutes after the container.\n\n"
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
