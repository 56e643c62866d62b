// SPDX-License-Identifier: Apache-2.0
// Formats: https://prometheus.io/docs/instrumenting/exposition_formats/ and the OpenMetrics 1.0.0
// specification (https://github.com/prometheus/OpenMetrics).
#include "service/metrics/exposition.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "service/metrics/label_text.h"

namespace firetower::service {
namespace {

// The longest a value of nanoseconds becomes: 11 digits, a point, 9 digits, a newline.
constexpr size_t kMaxSecondsBytes = 24;

std::string_view WithoutSuffix(std::string_view name, std::string_view suffix) {
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

// The name OpenMetrics gives the family: a suffix that the type implies belongs to the sample.
std::string_view BaseName(std::string_view name, MetricKind kind) {
  if (kind == MetricKind::kCounter) return WithoutSuffix(name, "_total");
  if (kind == MetricKind::kInfo) return WithoutSuffix(name, "_info");
  return name;
}

std::string_view UnitOf(std::string_view base_name, MetricKind kind) {
  if (kind == MetricKind::kInfo) return "";
  for (std::string_view unit : {"seconds", "bytes"}) {
    if (base_name.ends_with(unit) && WithoutSuffix(base_name, unit).ends_with('_')) return unit;
  }
  return "";
}

// OpenMetrics writes a bound as a float ("1.0"), the text format needs no point ("1").
std::string BoundText(double bound, bool open_metrics) {
  if (std::isinf(bound)) return "+Inf";
  char text[32];
  char* end = std::to_chars(text, text + sizeof(text), bound).ptr;
  std::string out(text, end);
  if (open_metrics && out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

// The texts "00" to "99" in a row.
constexpr std::array<char, 200> kPairs = [] {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// The nine digits of a fraction of a second, zeros first. A third of the time of to_chars, which
// has to find out how many digits there are.
char* WriteNineDigits(char* at, uint32_t fraction) {
  for (char* pair = at + 7; pair > at; pair -= 2) {
    std::memcpy(pair, &kPairs[2 * size_t{fraction % 100}], 2);
    fraction /= 100;
  }
  *at = static_cast<char>('0' + fraction);
  return at + 9;
}

// Seconds with as many decimals as are not zero, and a newline; returns the end.
char* WriteSeconds(char* at, char* limit, int64_t ns) {
  uint64_t value = ns < 0 ? 0 : static_cast<uint64_t>(ns);
  at = std::to_chars(at, limit, value / kNsPerSecond).ptr;
  uint32_t fraction = static_cast<uint32_t>(value % kNsPerSecond);
  if (fraction != 0) {
    *at++ = '.';
    at = WriteNineDigits(at, fraction);
    while (at[-1] == '0') --at;
  }
  *at++ = '\n';
  return at;
}

}  // namespace

std::string_view KindName(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kInfo:
      return "info";
    case MetricKind::kHistogram:
      return "histogram";
  }
  return "unknown";
}

ExpositionWriter::ExpositionWriter(ExpositionFormat format, size_t expected_bytes)
    : open_metrics_(format == ExpositionFormat::kOpenMetrics) {
  out_.reserve(expected_bytes);
}

void ExpositionWriter::Head(std::string_view name, std::string_view help, MetricKind kind) {
  std::string_view base = BaseName(name, kind);
  std::string_view shown = open_metrics_ ? base : name;
  out_.append("# HELP ").append(shown).append(" ");
  // The text format leaves quotes as they are; OpenMetrics knows all three escapes.
  for (char c : help) {
    if (c == '\\' || (c == '"' && open_metrics_)) out_ += '\\';
    if (c == '\n') {
      out_ += "\\n";
    } else {
      out_ += c;
    }
  }
  out_.append("\n# TYPE ").append(shown).append(" ");
  // The text format does not know the type info.
  out_ += KindName(kind == MetricKind::kInfo && !open_metrics_ ? MetricKind::kGauge : kind);
  out_ += '\n';
  std::string_view unit = UnitOf(base, kind);
  if (open_metrics_ && !unit.empty()) {
    out_.append("# UNIT ").append(shown).append(" ").append(unit).append("\n");
  }
}

void ExpositionWriter::Family(const MetricFamily& family) {
  Head(family.name, family.help, family.kind);
  for (const MetricPoint& point : family.points) {
    if (family.kind == MetricKind::kHistogram) {
      Histogram(family, point);
      continue;
    }
    Sample(family.name, "", point.labels, "");
    if (point.whole) {
      Integer(static_cast<int64_t>(point.value));
    } else {
      Number(point.value);
    }
  }
}

void ExpositionWriter::Histogram(const MetricFamily& family, const MetricPoint& point) {
  for (const HistogramBucket& bucket : point.buckets) {
    Sample(family.name, "_bucket", point.labels, BoundText(bucket.upper_bound, open_metrics_));
    Integer(static_cast<int64_t>(bucket.cumulative_count));
  }
  Sample(family.name, "_sum", point.labels, "");
  Number(point.sum);
  Sample(family.name, "_count", point.labels, "");
  Integer(static_cast<int64_t>(point.count));
}

void ExpositionWriter::Sample(std::string_view name, std::string_view suffix,
                              std::span<const LabelPair> labels, std::string_view le) {
  out_.append(name).append(suffix);
  char separator = '{';
  for (const LabelPair& label : labels) {
    out_ += separator;
    out_.append(label.name).append("=\"");
    AppendLabelValue(out_, label.value);
    out_ += '"';
    separator = ',';
  }
  if (!le.empty()) {
    out_ += separator;
    out_.append("le=\"").append(le).append("\"");
    separator = ',';
  }
  if (separator == ',') out_ += '}';
  out_ += ' ';
}

void ExpositionWriter::Number(double value) {
  if (std::isnan(value)) {
    out_ += "NaN\n";
    return;
  }
  if (std::isinf(value)) {
    out_ += value > 0 ? "+Inf\n" : "-Inf\n";
    return;
  }
  char text[32];
  char* end = std::to_chars(text, text + sizeof(text), value).ptr;
  out_.append(text, end) += '\n';
}

void ExpositionWriter::Integer(int64_t value) {
  char text[24];
  char* end = std::to_chars(text, text + sizeof(text), value).ptr;
  out_.append(text, end) += '\n';
}

void ExpositionWriter::SecondsFamily(std::string_view name, std::string_view help,
                                     std::span<const CounterSeries> series) {
  Head(name, help, MetricKind::kCounter);
  size_t bytes = 0;
  for (const CounterSeries& one : series) bytes += one.line->size() + kMaxSecondsBytes;
  out_.reserve(out_.size() + bytes);
  char value[kMaxSecondsBytes];
  for (const CounterSeries& one : series) {
    char* end = WriteSeconds(value, value + sizeof(value), one.value);
    out_.append(*one.line).append(value, end);
  }
}

void ExpositionWriter::CountsFamily(std::string_view name, std::string_view help,
                                    std::span<const CounterSeries> series) {
  Head(name, help, MetricKind::kCounter);
  for (const CounterSeries& one : series) {
    out_.append(*one.line);
    Integer(one.value);
  }
}

std::string ExpositionWriter::Finish() && {
  if (open_metrics_) out_ += "# EOF\n";
  return std::move(out_);
}

}  // namespace firetower::service
