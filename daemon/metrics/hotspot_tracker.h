// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/metrics/container_hotspots.h"
#include "daemon/metrics/hotspot_kind.h"
#include "service/metrics/exposition.h"

namespace firetower::daemon {

// The CPU time of one container in a slice, or what else a kind of hotspots counts, in its unit:
// nanoseconds, or events. total is all of it; the
// part that `functions` do not cover goes to `other`.
struct ContainerSlice {
  ContainerLabels labels;
  std::span<const FunctionSelf> functions;
  int64_t total = 0;
  size_t top_functions = 0;        // function series at most; 0: as many as Options says
  std::string workload_kind = {};  // empty: not known
  std::string workload = {};
  HotspotKind kind = HotspotKind::kCpu;
};

using service::CounterSeries;

// The workload of a pod: one series of firetower_workload_info.
struct WorkloadInfo {
  std::string ns;
  std::string pod;
  std::string kind;
  std::string name;
};

// The per-container families of one kind at one moment. Immutable once published.
struct HotspotSnapshot {
  std::vector<CounterSeries> totals;    // firetower_cpu_seconds_total, …
  std::vector<CounterSeries> hotspots;  // firetower_hotspot_cpu_seconds_total, …
  std::vector<WorkloadInfo> workloads;  // firetower_workload_info, of the pods shown
  uint64_t dropped_totals = 0;    // series refused or taken away because of a cap, since the start;
  uint64_t dropped_hotspots = 0;  // a series that stays refused counts once a slice
};

// The hotspots of one kind of all containers of the node, with a cap on series. When the cap is
// reached, the tracker falls back: no container gets a second function, and containers with more
// functions lose them when others need room. If that is not enough, a new container shows no
// functions at all. The fallback ends when everything would fit into four fifths of the cap. Totals
// are shown for every tracked container.
//
// Called by one thread. Memory is bounded by max_containers, and for each container by its
// residents and ContainerHotspots::kMaxCandidates.
class HotspotTracker {
 public:
  static constexpr int64_t kGoneKeepNs = 120'000'000'000;   // series outlive their container 2 min
  static constexpr int64_t kIdleEvictNs = 600'000'000'000;  // only when max_containers is reached

  struct Options {
    size_t top_functions = 5;  // of a container that does not say itself; 0: no function series
    size_t max_series = 300;   // function series of the node; 0: none
    size_t max_containers = 1024;
    int64_t window_ns = 60'000'000'000;
    HotspotNames names = {};
  };

  explicit HotspotTracker(const Options& options) : options_(options) {}

  // Must be called at the end of each slice; `now_ns` never goes back. Slices with equal labels add
  // up.
  void AddSlice(int64_t now_ns, std::span<const ContainerSlice> containers);
  // Reports that the container ended at `now_ns`. A later slice with the same labels brings it
  // back.
  void ContainerGone(int64_t now_ns, const ContainerLabels& labels);

  std::shared_ptr<const HotspotSnapshot> Snapshot() const;
  // Returns the container's state, nullptr if it is not tracked. For tests and the terminal.
  const ContainerHotspots* Find(const ContainerLabels& labels) const;

 private:
  struct Container {
    std::unique_ptr<ContainerHotspots> hotspots;
    std::string workload_kind;
    std::string workload;
    bool shown = false;  // has function series
    size_t top_functions = 0;
    int64_t last_seen_ns = 0;
    std::optional<int64_t> gone_ns;
  };

  bool shows_functions() const { return options_.top_functions > 0 && options_.max_series > 0; }
  // Returns the series that a container takes. A shown container reserves `other` and one function
  // from the start.
  static size_t SeriesOf(const Container& container);
  size_t Room() const;  // series left under the cap
  void TurnWindow(int64_t now_ns);
  void DropGone(int64_t now_ns);
  Container* FindOrAdd(int64_t now_ns, const ContainerLabels& labels);
  bool EvictIdle(int64_t now_ns);
  bool MakeRoom(size_t series);
  void LeaveFallback();
  void Account(int64_t now_ns, const ContainerSlice& slice, Container& container);

  Options options_;
  std::map<ContainerLabels, Container> containers_;
  int64_t window_index_ = -1;
  size_t used_series_ = 0;  // the sum of SeriesOf
  bool fallback_ = false;
  uint64_t dropped_totals_ = 0;
  uint64_t dropped_hotspots_ = 0;
};

}  // namespace firetower::daemon
