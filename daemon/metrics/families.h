// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "daemon/metrics/hotspot_kind.h"
#include "service/metrics/exposition.h"

namespace firetower::daemon {

using service::ExpositionFormat;
using service::MetricKind;

// Every family of /metrics, in the order it is shown. The per-container families come from the
// HotspotTrackers, the others from the MetricsRegistry.
enum class MetricId {
  kCpuSeconds,
  kHotspotCpuSeconds,
  kOffcpuSeconds,
  kHotspotOffcpuSeconds,
  kLockWaitSeconds,
  kHotspotLockWaitSeconds,
  kPageFaults,
  kHotspotPageFaults,
  kAllocatedBytes,
  kHotspotAllocatedBytes,
  kProbedProcesses,
  kRuntimeSamples,
  kWorkloadInfo,
  kSamples,
  kWaits,
  kSamplesLost,
  kRefused,
  kAttribution,
  kPodSamples,
  kUnwindFailures,
  kColdSamples,
  kUnwindTables,
  kUnwindTableBytes,
  kSymbolLookups,
  kPolicies,
  kGovernedPolicies,
  kGovernorSteps,
  kBudgetCores,
  kBudgetExceeded,
  kTriggerEvaluations,
  kTriggerCaptures,
  kTriggerSuppressed,
  kKubeRequests,
  kKubeWatchRestarts,
  kKubeObjectsSkipped,
  kKubeSynced,
  kKubeLastSync,
  kStoreOperations,
  kStoreFailures,
  kStoreSeconds,
  kStoreClockSkew,
  kSpoolBytes,
  kSpoolDroppedProfiles,
  kPushProfiles,
  kPushRequests,
  kPushQueueBytes,
  kTlsExpiry,
  kTlsRefused,
  kOverheadCpuSeconds,
  kBpfRunSeconds,
  kBpfMapBytes,
  kMetricSeries,
  kMetricSeriesDropped,
  kUserReadsRefused,
  kHostPidsHidden,
  kBuildInfo,
  kFeatureInfo,
  kProcessCpuSeconds,
  kProcessResidentBytes,
  kProcessVirtualBytes,
  kProcessOpenFds,
  kProcessMaxFds,
  kProcessStartTime,
};
inline constexpr size_t kMetricCount = 63;

struct FamilySpec {
  MetricId id;
  std::string_view name;
  MetricKind kind;
  std::string_view labels;  // names, separated by commas; "" for none
  std::string_view known;   // values of the one label that show zero from the start
  size_t max_series;        // label sets beyond are dropped, and that is counted
  std::string_view help;
};

// The per-container families of a kind of hotspots.
struct HotspotFamilies {
  MetricId totals;
  MetricId hotspots;
  bool seconds = true;  // their values are nanoseconds, shown as seconds
};
// By HotspotKind.
inline constexpr HotspotFamilies kHotspotFamilies[kHotspotKinds] = {
    {MetricId::kCpuSeconds, MetricId::kHotspotCpuSeconds},
    {MetricId::kOffcpuSeconds, MetricId::kHotspotOffcpuSeconds},
    {MetricId::kLockWaitSeconds, MetricId::kHotspotLockWaitSeconds},
    {MetricId::kPageFaults, MetricId::kHotspotPageFaults, false},
    {MetricId::kAllocatedBytes, MetricId::kHotspotAllocatedBytes, false},
};

std::span<const FamilySpec> MetricFamilies();
const FamilySpec& SpecOf(MetricId id);

// The page docs/reference/metrics.md, from the table.
std::string MetricsMarkdown();

}  // namespace firetower::daemon
