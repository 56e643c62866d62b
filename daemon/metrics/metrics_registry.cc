// SPDX-License-Identifier: Apache-2.0
// The one place that sees prometheus-cpp: its registry holds the health families, our writer writes
// them, because the library writes the text format only.
#include "daemon/metrics/metrics_registry.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/snapshot.h"

namespace firetower::daemon {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;
using service::ExpositionWriter;
using service::LabelPair;
using service::MetricFamily;
using service::MetricPoint;

const Histogram::BucketBoundaries kStoreBuckets{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10};

std::vector<std::string> Split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    parts.emplace_back(list.substr(0, list.find(',')));
    list.remove_prefix(std::min(list.size(), parts.back().size() + 1));
  }
  return parts;
}

double Seconds(int64_t ns) { return static_cast<double>(ns) / static_cast<double>(kNsPerSecond); }

// One family of type T and its series by label values. The mutex guards the map alone and is held
// for a look-up: a scrape does not take it, it goes through the library's registry.
template <typename T>
class Series {
 public:
  Series(prometheus::Registry& registry, const FamilySpec& spec)
      : family_(prometheus::detail::Builder<T>()
                    .Name(std::string(spec.name))
                    .Help(std::string(spec.help))
                    .Register(registry)),
        label_names_(Split(spec.labels)),
        max_series_(spec.max_series) {}

  // nullptr when the family is full.
  T* At(std::span<const std::string_view> values) {
    CHECK(values.size() == label_names_.size());
    std::vector<std::string> key(values.begin(), values.end());
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = by_values_.find(key);
    if (found != by_values_.end()) return found->second;
    if (by_values_.size() >= max_series_) return nullptr;
    prometheus::Labels labels;
    for (size_t i = 0; i < key.size(); ++i) labels[label_names_[i]] = key[i];
    T* series = &New(labels);
    by_values_.emplace(std::move(key), series);
    return series;
  }

 private:
  T& New(const prometheus::Labels& labels) {
    if constexpr (std::is_same_v<T, Histogram>) {
      return family_.Add(labels, kStoreBuckets);
    } else {
      return family_.Add(labels);
    }
  }

  prometheus::Family<T>& family_;
  std::vector<std::string> label_names_;
  size_t max_series_;
  std::mutex mutex_;
  std::map<std::vector<std::string>, T*> by_values_;
};

MetricPoint PointOf(const prometheus::ClientMetric& metric, const FamilySpec& spec,
                    const std::vector<std::string>& label_names) {
  MetricPoint point;
  for (const std::string& name : label_names) {
    for (const auto& label : metric.label) {
      if (label.name == name) point.labels.push_back({name, label.value});
    }
  }
  point.value = spec.kind == MetricKind::kCounter ? metric.counter.value : metric.gauge.value;
  point.count = metric.histogram.sample_count;
  point.sum = metric.histogram.sample_sum;
  for (const auto& bucket : metric.histogram.bucket) {
    point.buckets.push_back({bucket.upper_bound, bucket.cumulative_count});
  }
  return point;
}

// A family of the library as our writer takes it, its series in a stable order.
MetricFamily FamilyOf(const prometheus::MetricFamily& family, const FamilySpec& spec) {
  MetricFamily out{std::string(spec.name), std::string(spec.help), spec.kind, {}};
  const std::vector<std::string> names = Split(spec.labels);
  for (const auto& metric : family.metric) out.points.push_back(PointOf(metric, spec, names));
  std::sort(out.points.begin(), out.points.end(), [](const MetricPoint& a, const MetricPoint& b) {
    return std::lexicographical_compare(
        a.labels.begin(), a.labels.end(), b.labels.begin(), b.labels.end(),
        [](const LabelPair& x, const LabelPair& y) { return x.value < y.value; });
  });
  return out;
}

using Snapshots = std::array<std::shared_ptr<const HotspotSnapshot>, kHotspotKinds>;

// Writes a family that a HotspotSnapshot has; false for other families.
bool WriteFromSnapshot(const Snapshots& snapshots, const FamilySpec& spec,
                       ExpositionWriter& writer) {
  for (size_t kind = 0; kind < kHotspotKinds; ++kind) {
    const HotspotFamilies& of = kHotspotFamilies[kind];
    if (spec.id != of.totals && spec.id != of.hotspots) continue;
    const auto& series = spec.id == of.totals ? snapshots[kind]->totals : snapshots[kind]->hotspots;
    if (of.seconds) {
      writer.SecondsFamily(spec.name, spec.help, series);
    } else {
      writer.CountsFamily(spec.name, spec.help, series);
    }
    return true;
  }
  return false;
}

// Families of HotspotSnapshots: no series of theirs is in the library's registry.
bool IsFromSnapshot(MetricId id) {
  return id == MetricId::kWorkloadInfo ||
         std::ranges::any_of(kHotspotFamilies, [&](const HotspotFamilies& of) {
           return id == of.totals || id == of.hotspots;
         });
}

MetricFamily WorkloadFamily(const Snapshots& snapshots, const FamilySpec& spec) {
  MetricFamily out{std::string(spec.name), std::string(spec.help), spec.kind, {}};
  std::map<std::pair<std::string_view, std::string_view>, const WorkloadInfo*> pods;
  for (const auto& snapshot : snapshots) {
    for (const WorkloadInfo& one : snapshot->workloads) pods.try_emplace({one.ns, one.pod}, &one);
  }
  for (const auto& [pod, workload] : pods) {
    const WorkloadInfo& one = *workload;
    if (out.points.size() >= spec.max_series) break;
    MetricPoint& point = out.points.emplace_back();
    point.value = 1;
    point.labels = {{"namespace", one.ns},
                    {"pod", one.pod},
                    {"workload_kind", one.kind},
                    {"workload", one.name}};
  }
  return out;
}

}  // namespace

struct MetricsRegistry::Impl {
  using AnySeries =
      std::variant<std::monostate, std::unique_ptr<Series<Counter>>, std::unique_ptr<Series<Gauge>>,
                   std::unique_ptr<Series<Histogram>>>;

  prometheus::Registry registry;
  std::array<AnySeries, kMetricCount> series;
  std::array<SnapshotCell<HotspotSnapshot>, kHotspotKinds> hotspots;  // by kind

  template <typename T>
  Series<T>& Of(MetricId id) {
    auto* found = std::get_if<std::unique_ptr<Series<T>>>(&series[static_cast<size_t>(id)]);
    CHECK(found != nullptr);  // a counter is used as a gauge, or the reverse
    return **found;
  }

  // The series, or nullptr when the family is full, which is counted.
  template <typename T>
  T* At(MetricId id, LabelValues labels) {
    T* found = Of<T>(id).At({labels.begin(), labels.size()});
    if (found == nullptr) {
      std::string_view family = SpecOf(id).name;
      Counter* dropped = Of<Counter>(MetricId::kMetricSeriesDropped).At({&family, 1});
      if (dropped != nullptr) dropped->Increment();
    }
    return found;
  }
};

MetricsRegistry::MetricsRegistry() : impl_(std::make_unique<Impl>()) {
  for (const FamilySpec& spec : MetricFamilies()) {
    if (IsFromSnapshot(spec.id)) continue;
    auto& slot = impl_->series[static_cast<size_t>(spec.id)];
    auto show_known = [&spec](auto& series) {
      if (spec.labels.empty()) series.At({});
      for (const std::string& value : Split(spec.known)) {
        std::string_view view = value;
        series.At({&view, 1});
      }
    };
    auto create = [&]<typename T>(std::unique_ptr<Series<T>> series) {
      show_known(*series);
      slot = std::move(series);
    };
    if (spec.kind == MetricKind::kCounter) {
      create(std::make_unique<Series<Counter>>(impl_->registry, spec));
    } else if (spec.kind == MetricKind::kHistogram) {
      create(std::make_unique<Series<Histogram>>(impl_->registry, spec));
    } else {
      create(std::make_unique<Series<Gauge>>(impl_->registry, spec));
    }
  }
}

MetricsRegistry::~MetricsRegistry() = default;

void MetricsRegistry::Declare(MetricId counter, LabelValues labels) {
  impl_->At<Counter>(counter, labels);
}

void MetricsRegistry::Add(MetricId counter, double by, LabelValues labels) {
  if (Counter* series = impl_->At<Counter>(counter, labels)) series->Increment(by);
}

void MetricsRegistry::SetTotal(MetricId counter, double total, LabelValues labels) {
  Counter* series = impl_->At<Counter>(counter, labels);
  if (series == nullptr) return;
  double missing = total - series->Value();
  if (missing > 0) series->Increment(missing);
}

void MetricsRegistry::Set(MetricId gauge, double value, LabelValues labels) {
  if (Gauge* series = impl_->At<Gauge>(gauge, labels)) series->Set(value);
}

void MetricsRegistry::SetInfo(MetricId info, LabelValues labels) { Set(info, 1, labels); }

void MetricsRegistry::ObserveStoreOperation(std::string_view operation, double seconds,
                                            bool failed) {
  Add(MetricId::kStoreOperations, 1, {operation});
  if (failed) Add(MetricId::kStoreFailures, 1, {operation});
  if (Histogram* series = impl_->At<Histogram>(MetricId::kStoreSeconds, {operation})) {
    series->Observe(seconds);
  }
}

void MetricsRegistry::SetOverhead(const OverheadReading& reading) {
  for (const ComponentCpu& one : reading.components) {
    SetTotal(MetricId::kOverheadCpuSeconds, Seconds(one.cpu_ns), {one.component});
  }
  SetTotal(MetricId::kProcessCpuSeconds, Seconds(reading.process_cpu_ns));
  Set(MetricId::kProcessResidentBytes, static_cast<double>(reading.resident_bytes));
  Set(MetricId::kProcessVirtualBytes, static_cast<double>(reading.virtual_bytes));
  Set(MetricId::kProcessOpenFds, static_cast<double>(reading.open_fds));
  Set(MetricId::kProcessMaxFds, static_cast<double>(reading.max_fds));
  Set(MetricId::kProcessStartTime, reading.start_time_seconds);
}

void MetricsRegistry::SetBpfCost(int64_t run_ns, int64_t map_bytes) {
  SetTotal(MetricId::kBpfRunSeconds, Seconds(run_ns));
  SetTotal(MetricId::kOverheadCpuSeconds, Seconds(run_ns), {"bpf"});
  Set(MetricId::kBpfMapBytes, static_cast<double>(map_bytes));
}

void MetricsRegistry::PublishHotspots(HotspotKind of,
                                      std::shared_ptr<const HotspotSnapshot> snapshot) {
  const auto kind = static_cast<size_t>(of);
  std::string_view totals = SpecOf(kHotspotFamilies[kind].totals).name;
  std::string_view hotspots = SpecOf(kHotspotFamilies[kind].hotspots).name;
  Set(MetricId::kMetricSeries, static_cast<double>(snapshot->totals.size()), {totals});
  Set(MetricId::kMetricSeries, static_cast<double>(snapshot->hotspots.size()), {hotspots});
  SetTotal(MetricId::kMetricSeriesDropped, static_cast<double>(snapshot->dropped_totals), {totals});
  SetTotal(MetricId::kMetricSeriesDropped, static_cast<double>(snapshot->dropped_hotspots),
           {hotspots});
  impl_->hotspots[kind].Publish(std::move(snapshot));
}

std::string MetricsRegistry::Render(ExpositionFormat format) const {
  ExpositionWriter writer(format);
  std::map<std::string_view, const prometheus::MetricFamily*> by_name;
  const std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  for (const auto& family : families) by_name[family.name] = &family;
  Snapshots snapshots;
  for (size_t kind = 0; kind < kHotspotKinds; ++kind) {
    snapshots[kind] = impl_->hotspots[kind].Get();
    if (!snapshots[kind]) snapshots[kind] = std::make_shared<const HotspotSnapshot>();
  }
  for (const FamilySpec& spec : MetricFamilies()) {
    if (WriteFromSnapshot(snapshots, spec, writer)) continue;
    if (spec.id == MetricId::kWorkloadInfo) {
      writer.Family(WorkloadFamily(snapshots, spec));
    } else {
      // The library leaves families without series out; their heads still tell what there is.
      auto found = by_name.find(spec.name);
      writer.Family(
          FamilyOf(found == by_name.end() ? prometheus::MetricFamily() : *found->second, spec));
    }
  }
  return std::move(writer).Finish();
}

}  // namespace firetower::daemon
