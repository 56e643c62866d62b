// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firetower::service {

enum class ExpositionFormat {
  kText,         // Prometheus text format 0.0.4
  kOpenMetrics,  // OpenMetrics 1.0.0
};

enum class MetricKind { kCounter, kGauge, kInfo, kHistogram };
std::string_view KindName(MetricKind kind);  // "counter"

struct LabelPair {
  std::string name;
  std::string value;
};

struct HistogramBucket {
  double upper_bound = 0;
  uint64_t cumulative_count = 0;
};

// One series; of a histogram, all series of one label set.
struct MetricPoint {
  std::vector<LabelPair> labels;
  double value = 0;
  bool whole = false;  // a count of things: written without an exponent
  // kHistogram only, the bucket of +Inf last.
  std::vector<HistogramBucket> buckets;
  uint64_t count = 0;
  double sum = 0;
};

// One counter series: the line of the exposition up to the value, and the value.
struct CounterSeries {
  std::shared_ptr<const std::string> line;
  int64_t value = 0;  // nanoseconds in a SecondsFamily
};

// Returns a point whose value is a count of things.
template <typename Number>
MetricPoint CountPoint(Number count, std::vector<LabelPair> labels = {}) {
  MetricPoint point;
  point.labels = std::move(labels);
  point.value = static_cast<double>(count);
  point.whole = true;
  return point;
}

// `name` as samples carry it: a counter's ends in _total, an info's in _info.
struct MetricFamily {
  std::string name;
  std::string help;
  MetricKind kind = MetricKind::kGauge;
  std::vector<MetricPoint> points;
};

// Writes one exposition. OpenMetrics differs in the family's name (no _total, no _info), in UNIT
// lines (for names that end in _seconds or _bytes), in the spelling of `le`, and in the end mark.
class ExpositionWriter {
 public:
  explicit ExpositionWriter(ExpositionFormat format, size_t expected_bytes = 0);

  void Family(const MetricFamily& family);
  // A counter family in seconds from lines that are ready but for their value: one copy and one
  // integer to text a series, exact to the nanosecond.
  void SecondsFamily(std::string_view name, std::string_view help,
                     std::span<const CounterSeries> series);
  // The same of counts.
  void CountsFamily(std::string_view name, std::string_view help,
                    std::span<const CounterSeries> series);
  std::string Finish() &&;

 private:
  void Head(std::string_view name, std::string_view help, MetricKind kind);
  void Histogram(const MetricFamily& family, const MetricPoint& point);
  void Sample(std::string_view name, std::string_view suffix, std::span<const LabelPair> labels,
              std::string_view le);
  void Number(double value);
  void Integer(int64_t value);

  bool open_metrics_;
  std::string out_;
};

}  // namespace firetower::service
