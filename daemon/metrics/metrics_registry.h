// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/health/overhead.h"
#include "daemon/metrics/families.h"
#include "daemon/metrics/hotspot_tracker.h"

namespace firetower::daemon {

// All values of /metrics. Thread-safe, but not meant for the path of a sample: count there
// yourself, and set the total once a slice. A scrape reads atomic counters and an immutable
// snapshot of the hotspots. It never holds a lock for which a writer of known series waits.
class MetricsRegistry {
 public:
  using LabelValues = std::initializer_list<std::string_view>;

  MetricsRegistry();
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  // Counters. Declare shows a label set as zero before anything happened.
  void Declare(MetricId counter, LabelValues labels);
  void Add(MetricId counter, double by, LabelValues labels = {});
  // Raises the counter to a total that is kept elsewhere; a lower total changes nothing. Of one
  // counter, one thread sets the total.
  void SetTotal(MetricId counter, double total, LabelValues labels = {});

  void Set(MetricId gauge, double value, LabelValues labels = {});
  // Shows an info family once more, with these label values: call it once a family.
  void SetInfo(MetricId info, LabelValues labels);

  // One store operation: counts it, its failure, and its time.
  void ObserveStoreOperation(std::string_view operation, double seconds, bool failed);
  // The daemon's own cost: the overhead and process families.
  void SetOverhead(const OverheadReading& reading);
  // Run time and map memory of the BPF programs, which are overhead too.
  void SetBpfCost(int64_t run_ns, int64_t map_bytes);
  // Swaps in the hotspots of a type (enum ft_type) that scrapes show from now on, and counts their
  // series.
  void PublishHotspots(HotspotKind of, std::shared_ptr<const HotspotSnapshot> snapshot);

  // The whole exposition.
  std::string Render(ExpositionFormat format) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace firetower::daemon
