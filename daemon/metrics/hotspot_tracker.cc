// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/hotspot_tracker.h"

#include <algorithm>

namespace firetower::daemon {

void HotspotTracker::AddSlice(int64_t now_ns, std::span<const ContainerSlice> containers) {
  TurnWindow(now_ns);
  DropGone(now_ns);
  LeaveFallback();
  for (const ContainerSlice& slice : containers) {
    Container* container = FindOrAdd(now_ns, slice.labels);
    if (container == nullptr) {
      ++dropped_totals_;
      if (shows_functions()) ++dropped_hotspots_;
      continue;
    }
    container->workload_kind = slice.workload_kind;
    container->workload = slice.workload;
    container->last_seen_ns = now_ns;
    container->gone_ns.reset();
    Account(now_ns, slice, *container);
  }
}

void HotspotTracker::ContainerGone(int64_t now_ns, const ContainerLabels& labels) {
  auto found = containers_.find(labels);
  if (found != containers_.end()) found->second.gone_ns = now_ns;
}

void HotspotTracker::Account(int64_t now_ns, const ContainerSlice& slice, Container& container) {
  used_series_ -= SeriesOf(container);
  container.top_functions = slice.top_functions > 0 ? slice.top_functions : options_.top_functions;
  container.hotspots->Shrink(container.top_functions);
  size_t free_slots = 0;
  size_t refused_slots = 0;  // free but for the cap
  if (shows_functions()) {
    if (!container.shown) container.shown = MakeRoom(2);
    if (!container.shown) {
      ++dropped_hotspots_;
    } else {
      size_t residents = container.hotspots->residents().size();
      size_t wanted = container.top_functions - residents;
      size_t allowed = fallback_ ? 1 : Room() - 1;  // one is for `other`
      free_slots = std::min(wanted, allowed - std::min(residents, allowed));
      refused_slots = wanted - free_slots;
    }
  }
  size_t more = container.hotspots->AddSlice(now_ns, slice.functions, slice.total, free_slots);
  size_t refused = std::min(more, refused_slots);
  dropped_hotspots_ += refused;
  if (refused > 0) fallback_ = true;
  used_series_ += SeriesOf(container);
}

size_t HotspotTracker::SeriesOf(const Container& container) {
  if (!container.shown) return 0;
  return 1 + std::max<size_t>(1, container.hotspots->residents().size());
}

size_t HotspotTracker::Room() const {
  return options_.max_series - std::min(used_series_, options_.max_series);
}

bool HotspotTracker::MakeRoom(size_t series) {
  while (Room() < series) {
    fallback_ = true;
    Container* largest = nullptr;
    for (auto& [labels, container] : containers_) {
      if (largest == nullptr || SeriesOf(container) > SeriesOf(*largest)) largest = &container;
    }
    size_t evicted = largest == nullptr || !largest->shown ? 0 : largest->hotspots->Shrink(1);
    if (evicted == 0) return false;
    used_series_ -= evicted;
    dropped_hotspots_ += evicted;
  }
  return true;
}

void HotspotTracker::LeaveFallback() {
  if (!fallback_) return;
  size_t wanted = 0;
  for (const auto& [labels, container] : containers_) wanted += container.top_functions + 1;
  if (wanted * 5 <= options_.max_series * 4) fallback_ = false;
}

void HotspotTracker::TurnWindow(int64_t now_ns) {
  // A slice that ends on the border belongs to the window before it.
  int64_t index = (now_ns - 1) / options_.window_ns;
  if (window_index_ >= 0 && index != window_index_) {
    for (auto& [labels, container] : containers_) container.hotspots->EndWindow(now_ns);
  }
  window_index_ = index;
}

void HotspotTracker::DropGone(int64_t now_ns) {
  std::erase_if(containers_, [&](const auto& entry) {
    const Container& container = entry.second;
    bool drop = container.gone_ns && now_ns - *container.gone_ns >= kGoneKeepNs;
    if (drop) used_series_ -= SeriesOf(container);
    return drop;
  });
}

HotspotTracker::Container* HotspotTracker::FindOrAdd(int64_t now_ns,
                                                     const ContainerLabels& labels) {
  auto found = containers_.find(labels);
  if (found != containers_.end()) return &found->second;
  if (containers_.size() >= options_.max_containers && !EvictIdle(now_ns)) return nullptr;
  Container container;
  container.hotspots = std::make_unique<ContainerHotspots>(labels, options_.names);
  return &containers_.emplace(labels, std::move(container)).first->second;
}

bool HotspotTracker::EvictIdle(int64_t now_ns) {
  auto oldest = std::min_element(
      containers_.begin(), containers_.end(),
      [](const auto& a, const auto& b) { return a.second.last_seen_ns < b.second.last_seen_ns; });
  if (oldest == containers_.end()) return false;
  const Container& container = oldest->second;
  if (!container.gone_ns && now_ns - container.last_seen_ns < kIdleEvictNs) return false;
  used_series_ -= SeriesOf(container);
  containers_.erase(oldest);
  return true;
}

std::shared_ptr<const HotspotSnapshot> HotspotTracker::Snapshot() const {
  auto snapshot = std::make_shared<HotspotSnapshot>();
  snapshot->totals.reserve(containers_.size());
  snapshot->hotspots.reserve(used_series_);
  for (const auto& [labels, container] : containers_) {
    // Containers of a pod stand together.
    const bool same_pod = !snapshot->workloads.empty() &&
                          snapshot->workloads.back().ns == labels.ns &&
                          snapshot->workloads.back().pod == labels.pod;
    if (!same_pod && !container.workload.empty()) {
      snapshot->workloads.push_back(
          {labels.ns, labels.pod, container.workload_kind, container.workload});
    }
    const ContainerHotspots& hotspots = *container.hotspots;
    snapshot->totals.push_back({hotspots.total_line(), hotspots.total()});
    if (!container.shown) continue;
    for (const ContainerHotspots::Resident& resident : hotspots.residents()) {
      snapshot->hotspots.push_back({resident.line, resident.value});
    }
    snapshot->hotspots.push_back({hotspots.other_line(), hotspots.other()});
  }
  snapshot->dropped_totals = dropped_totals_;
  snapshot->dropped_hotspots = dropped_hotspots_;
  return snapshot;
}

const ContainerHotspots* HotspotTracker::Find(const ContainerLabels& labels) const {
  auto found = containers_.find(labels);
  return found == containers_.end() ? nullptr : found->second.hotspots.get();
}

}  // namespace firetower::daemon
