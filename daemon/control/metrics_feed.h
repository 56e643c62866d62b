// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "daemon/capture/bpf_sampler.h"
#include "daemon/capture/capture.h"
#include "daemon/control/skipped_ticks.h"
#include "daemon/control/types/allocation_side.h"
#include "daemon/control/types/event_side.h"
#include "daemon/control/types/wait_side.h"
#include "daemon/export/exporter.h"
#include "daemon/health/overhead.h"
#include "daemon/metrics/hotspot_tracker.h"
#include "daemon/metrics/metrics_registry.h"
#include "daemon/outbox/store_side.h"

namespace firetower::daemon {

// Keeps /metrics up to date: hotspots with each slice (export thread), the counters of the kernel
// side and the daemon's own cost every few seconds (control thread).
class MetricsFeed : public ExportObserver, public StoreObserver {
 public:
  struct Parts {
    BpfSampler& sampler;
    const WaitSide& waits;
    const EventSide& events;
    const AllocationSide& allocations;
    MetricsRegistry& registry;
    const Clock& clock;
    std::string proc_root;
    HotspotTracker::Options hotspots;
  };
  explicit MetricsFeed(const Parts& parts);

  // Export thread.
  void OnSlice(const Slice& slice, std::span<const ContainerSlice> containers,
               std::span<const ContainerLabels> gone) override;
  // The threads that store.
  void OnStoreOperation(std::string_view operation, const Status& result,
                        int64_t duration_ns) override;

  // Returns true if the store refused the last object. Any thread.
  bool store_fails() const {
    return put_fails_.load(std::memory_order_relaxed) ||
           spool_fails_.load(std::memory_order_relaxed);
  }

  // Control thread. Parts that do not exist yet are null.
  void Update(const Capture* capture, const PipelineFigures* pipeline, const Exporter* exporter,
              const StoreSide* store, uint32_t frequency_hz);
  // Control thread: as of the last Update.
  const OwnTotals& own() const { return own_; }

 private:
  void FeedRuntimes(const RuntimeFacts& facts);
  void FeedPipeline(const PipelineFigures& figures);
  void FeedSpool(const std::optional<store::SpoolFigures>& figures);
  void FeedLosses(const ft_counters& counters);
  void FeedSkipped(const ft_counters& counters, uint32_t frequency_hz);
  void FeedWaits(const WaitCounters& waits);
  void FeedAllocations(const AllocCounters& allocations);

  BpfSampler& sampler_;
  const WaitSide& waits_;
  const EventSide& events_;
  const AllocationSide& allocations_;
  MetricsRegistry& registry_;
  const Clock& clock_;
  std::string proc_root_;
  std::vector<HotspotTracker> hotspots_;  // by type
  OverheadMeter overhead_;
  OwnTotals own_;
  SkippedTicks skipped_;
  uint64_t skipped_total_ = 0;
  int64_t next_skipped_ns_ = 0;
  std::atomic<bool> put_fails_{false};
  std::atomic<bool> spool_fails_{false};
};

}  // namespace firetower::daemon
