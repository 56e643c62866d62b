// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/metrics_feed.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/file.h"
#include "daemon/capture/map_array.h"

namespace firetower::daemon {
namespace {

// Idle time has a resolution of 10 ms a CPU: a minute makes that small.
constexpr int64_t kSkippedEveryNs = 60 * kNsPerSecond;

struct Loss {
  ft_counter counter;
  const char* reason;
};

// Counters that are losses; the others say why something was not sampled on purpose.
constexpr Loss kLosses[] = {
    {FT_COUNT_RING_FULL, "ring_full"},
    {FT_COUNT_STACK_RING_FULL, "stack_ring_full"},
    {FT_COUNT_CGROUP_RING_FULL, "cgroup_ring_full"},
    {FT_COUNT_NO_CGROUP, "no_cgroup"},
    {FT_COUNT_EXEC, "exec"},
};

}  // namespace

MetricsFeed::MetricsFeed(const Parts& parts)
    : sampler_(parts.sampler),
      waits_(parts.waits),
      events_(parts.events),
      allocations_(parts.allocations),
      registry_(parts.registry),
      clock_(parts.clock),
      proc_root_(parts.proc_root),
      overhead_(parts.proc_root) {
  for (const HotspotFamilies& of : kHotspotFamilies) {
    HotspotTracker::Options options = parts.hotspots;
    options.names = {SpecOf(of.totals).name, SpecOf(of.hotspots).name};
    hotspots_.emplace_back(options);
  }
  for (const Loss& loss : kLosses) registry_.Declare(MetricId::kSamplesLost, {loss.reason});
  for (const char* reason :
       {"skipped", "sideband", "stack_unknown", "store", "recorder", "waits_ring_full",
        "waits_table_full", "waits_unseen", "nested", "preempted"}) {
    registry_.Declare(MetricId::kSamplesLost, {reason});
  }
  for (uint8_t stop = 0; stop < kStopCount; ++stop) {
    if (!StopReason(stop).empty()) {
      registry_.Declare(MetricId::kUnwindFailures, {StopReason(stop)});
    }
  }
}

void MetricsFeed::OnSlice(const Slice& slice, std::span<const ContainerSlice> containers,
                          std::span<const ContainerLabels> gone) {
  int64_t now_ns = clock_.MonotonicNs();
  for (size_t i = 0; i < kHotspotKinds; ++i) {
    const auto kind = static_cast<HotspotKind>(i);
    std::vector<ContainerSlice> of_kind;
    std::ranges::copy_if(containers, std::back_inserter(of_kind),
                         [&](const ContainerSlice& one) { return one.kind == kind; });
    HotspotTracker& tracker = hotspots_[i];
    tracker.AddSlice(now_ns, of_kind);
    for (const ContainerLabels& labels : gone) tracker.ContainerGone(now_ns, labels);
    registry_.PublishHotspots(kind, tracker.Snapshot());
  }

  registry_.Add(MetricId::kAttribution, static_cast<double>(slice.attribution.container),
                {"container"});
  registry_.Add(MetricId::kAttribution, static_cast<double>(slice.attribution.host), {"host"});
  registry_.Add(MetricId::kAttribution, static_cast<double>(slice.attribution.unknown),
                {"unknown"});
  registry_.Add(MetricId::kAttribution, static_cast<double>(slice.attribution.pending),
                {"pending"});
  for (uint8_t stop = 0; stop < kStopCount; ++stop) {
    if (StopReason(stop).empty() || slice.stops[stop] == 0) continue;
    registry_.Add(MetricId::kUnwindFailures, static_cast<double>(slice.stops[stop]),
                  {StopReason(stop)});
  }
  registry_.Add(MetricId::kSamplesLost, static_cast<double>(slice.stops[kStopStackLost]),
                {"stack_unknown"});
}

void MetricsFeed::OnStoreOperation(std::string_view operation, const Status& result,
                                   int64_t duration_ns) {
  const bool ok = result.has_value();
  if (operation == "put") put_fails_.store(!ok, std::memory_order_relaxed);
  if (operation == "spool") spool_fails_.store(!ok, std::memory_order_relaxed);
  registry_.ObserveStoreOperation(operation, static_cast<double>(duration_ns) / 1e9, !ok);
}

void MetricsFeed::FeedLosses(const ft_counters& counters) {
  for (const Loss& loss : kLosses) {
    registry_.SetTotal(MetricId::kSamplesLost, static_cast<double>(counters.value[loss.counter]),
                       {loss.reason});
  }
  registry_.SetTotal(MetricId::kUnwindFailures,
                     static_cast<double>(counters.value[FT_COUNT_KERNEL_STACK]), {"kernel_stack"});
  registry_.SetTotal(MetricId::kUnwindFailures,
                     static_cast<double>(counters.value[FT_COUNT_NO_REGISTERS]), {"no_registers"});
  registry_.SetTotal(MetricId::kRefused, static_cast<double>(counters.value[FT_COUNT_GATE_FULL]),
                     {"gate_full"});
}

void MetricsFeed::FeedSkipped(const ft_counters& counters, uint32_t frequency_hz) {
  int64_t now_ns = clock_.MonotonicNs();
  if (now_ns < next_skipped_ns_) return;
  next_skipped_ns_ = now_ns + kSkippedEveryNs;
  SkippedTicks::Reading reading;
  const BpfSampler::Counted counted = sampler_.CountedTime();
  reading.counted_ns = counted.ns;
  reading.changes = counted.changes;
  reading.idle_ns = IdleNs(ReadFile(proc_root_ + "/stat").value_or(""));
  reading.runs = counters.value[FT_COUNT_RUNS];
  reading.period_ns = static_cast<uint64_t>(kNsPerSecond) / frequency_hz;
  skipped_total_ = skipped_.Add(reading);
  registry_.SetTotal(MetricId::kSamplesLost, static_cast<double>(skipped_total_), {"skipped"});
}

void MetricsFeed::FeedWaits(const WaitCounters& waits) {
  registry_.SetTotal(MetricId::kWaits, static_cast<double>(waits.value[FT_OFFCPU_WAITS]));
  const std::pair<const char*, ft_offcpu_counter> losses[] = {
      {"waits_ring_full", FT_OFFCPU_WAIT_RING_FULL},
      {"waits_table_full", FT_OFFCPU_TABLE_FULL},
      {"waits_unseen", FT_OFFCPU_UNSEEN}};
  for (const auto& [reason, counter] : losses)
    registry_.SetTotal(MetricId::kSamplesLost, static_cast<double>(waits.value[counter]), {reason});
}

void MetricsFeed::FeedAllocations(const AllocCounters& allocations) {
  registry_.SetTotal(MetricId::kSamplesLost, static_cast<double>(allocations.missed),
                     {"preempted"});
  registry_.Set(MetricId::kProbedProcesses, static_cast<double>(allocations_.probed_processes()),
                {"probed"});
  const std::vector<LeftOutHeap> left_out = allocations_.faults().left_out;
  const auto refused = std::ranges::count_if(
      left_out, [](const LeftOutHeap& heap) { return !heap.refused.empty(); });
  registry_.Set(MetricId::kProbedProcesses, static_cast<double>(refused), {"refused"});
  registry_.Set(MetricId::kProbedProcesses,
                static_cast<double>(left_out.size()) - static_cast<double>(refused), {"too_busy"});
}

void MetricsFeed::FeedRuntimes(const RuntimeFacts& facts) {
  for (const auto& [runtime, samples] : facts.totals) {
    const std::pair<const char*, uint64_t> results[] = {{"named", samples.named},
                                                        {"unnamed", samples.unnamed},
                                                        {"none", samples.none},
                                                        {"unsupported", samples.unsupported}};
    for (const auto& [result, count] : results)
      registry_.SetTotal(MetricId::kRuntimeSamples, static_cast<double>(count), {runtime, result});
  }
}

void MetricsFeed::FeedPipeline(const PipelineFigures& figures) {
  registry_.Set(MetricId::kUnwindTables, static_cast<double>(figures.unwind_tables));
  registry_.Set(MetricId::kUnwindTableBytes, static_cast<double>(figures.unwind_table_bytes));
  const std::pair<const char*, uint64_t> refused[] = {
      {"bad_records", figures.bad_records},      {"stack_bodies", figures.refused_stacks},
      {"cgroups", figures.refused_cgroups},      {"modules", figures.refused_modules},
      {"functions", figures.refused_functions},  {"mappings", figures.refused_mappings},
      {"unwind_tables", figures.refused_tables}, {"address_spaces", figures.refused_spaces},
  };
  for (const auto& [reason, count] : refused) {
    registry_.SetTotal(MetricId::kRefused, static_cast<double>(count), {reason});
  }
}

void MetricsFeed::FeedSpool(const std::optional<store::SpoolFigures>& figures) {
  if (!figures) return;
  registry_.Set(MetricId::kSpoolBytes, static_cast<double>(figures->bytes));
  registry_.SetTotal(MetricId::kSpoolDroppedProfiles,
                     static_cast<double>(figures->dropped_profiles));
}

void MetricsFeed::Update(const Capture* capture, const PipelineFigures* pipeline,
                         const Exporter* exporter, const StoreSide* store, uint32_t frequency_hz) {
  ft_counters counters = sampler_.Counters();
  const EventCounters events = events_.Counters();
  FeedSkipped(counters, frequency_hz);
  AddCounters(events.counters, counters);
  const AllocCounters allocations = allocations_.Counters();
  AddCounters(allocations.counters, counters);
  FeedAllocations(allocations);
  registry_.SetTotal(MetricId::kSamples, static_cast<double>(counters.value[FT_COUNT_SAMPLES]));
  FeedLosses(counters);
  registry_.SetTotal(MetricId::kSamplesLost, static_cast<double>(events.missed), {"nested"});
  const WaitCounters waits = waits_.Counters();
  FeedWaits(waits);
  if (capture != nullptr) {
    registry_.SetTotal(MetricId::kSamplesLost, static_cast<double>(capture->lost_sideband()),
                       {"sideband"});
    registry_.SetTotal(MetricId::kRefused, static_cast<double>(capture->stalls()),
                       {"capture_stalls"});
  }
  registry_.SetTotal(MetricId::kColdSamples, static_cast<double>(counters.value[FT_COUNT_COLD]),
                     {"sent"});
  registry_.SetTotal(MetricId::kColdSamples,
                     static_cast<double>(counters.value[FT_COUNT_COLD_LIMITED]), {"limited"});
  if (pipeline != nullptr) FeedPipeline(*pipeline);
  if (exporter != nullptr) {
    registry_.SetTotal(MetricId::kSymbolLookups, static_cast<double>(exporter->symbol_hits()),
                       {"named"});
    registry_.SetTotal(MetricId::kSymbolLookups, static_cast<double>(exporter->symbol_misses()),
                       {"unnamed"});
    const uint64_t dropped =
        exporter->dropped_samples() + (store != nullptr ? store->dropped_samples() : 0);
    registry_.SetTotal(MetricId::kSamplesLost, static_cast<double>(dropped), {"store"});
    registry_.SetTotal(MetricId::kSamplesLost, static_cast<double>(exporter->uncaptured_samples()),
                       {"recorder"});
    registry_.SetTotal(MetricId::kRefused, static_cast<double>(exporter->refused_captures()),
                       {"captures"});
    if (const auto runtimes = exporter->runtime_facts()) FeedRuntimes(*runtimes);
    const Exporter::PodSamples pods = exporter->pod_samples();
    registry_.SetTotal(MetricId::kPodSamples, static_cast<double>(pods.named), {"known"});
    registry_.SetTotal(MetricId::kPodSamples, static_cast<double>(pods.late), {"late"});
    registry_.SetTotal(MetricId::kPodSamples, static_cast<double>(pods.missing), {"missing"});
    registry_.SetTotal(MetricId::kPodSamples, static_cast<double>(pods.opted_out), {"opted_out"});
  }
  if (store != nullptr) {
    FeedSpool(store->spool_figures());
    registry_.Set(MetricId::kStoreClockSkew,
                  static_cast<double>(store->clock_skew_ns() / kNsPerSecond));
  }
  const OverheadReading overhead = overhead_.Read();
  const auto bpf_ns =
      static_cast<int64_t>(counters.value[FT_COUNT_RUN_NS] + waits.counters.value[FT_COUNT_RUN_NS]);
  const auto map_bytes = static_cast<int64_t>(sampler_.MapBytes() + waits_.MapBytes() +
                                              events_.MapBytes() + allocations_.MapBytes());
  registry_.SetOverhead(overhead);
  registry_.SetBpfCost(bpf_ns, map_bytes);
  own_ = {overhead.process_cpu_ns + bpf_ns, overhead.private_bytes + map_bytes};
}

}  // namespace firetower::daemon
