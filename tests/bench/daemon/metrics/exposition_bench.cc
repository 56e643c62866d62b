// SPDX-License-Identifier: Apache-2.0
// P16, exposition: the CPU of one scrape of 10,000 and 100,000 function series, as a multiple of
// the least any writer does: copy a label text that is ready, and turn one integer into digits. The
// cost of a bare copy of whole lines, values and all, is printed beside it. Each line is
// `metric value limit verdict`; floor and writer alternate, and the median of the pairwise ratios
// counts. Bytes a series are those of the snapshot with its lines.
#include <fmt/core.h>
#include <libdeflate.h>
#include <malloc.h>

#include <charconv>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "daemon/metrics/hotspot_tracker.h"
#include "daemon/metrics/metrics_registry.h"
#include "tests/bench/pairs.h"

namespace firetower::daemon {
namespace {

using bench::Median;

constexpr double kMostTimesFloor = 2.5;
constexpr double kMostBytesASeries = 300;

int PairCount() { return bench::Pick(31, 1); }

bool g_failed = false;

void Print(const std::string& metric, double value, double limit) {
  bool holds = value <= limit;
  g_failed |= !bench::Passes(holds);
  fmt::print("{} {:.4g} <={:g} {}\n", metric, value, limit, bench::Verdict(holds));
}

void Print(const std::string& metric, double value) {
  fmt::print("{} {:.4g} - -\n", metric, value);
}

int64_t ThreadCpuNs() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * kNsPerSecond + used.tv_nsec;
}

// Heap in use, mapped blocks included. mallinfo2 reads counters, it does not touch pages.
double HeapBytes() {
  struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

// `count` series of 20 containers a node's way: five functions and `other` each.
std::shared_ptr<const HotspotSnapshot> MakeSnapshot(size_t count) {
  auto snapshot = std::make_shared<HotspotSnapshot>();
  snapshot->hotspots.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    snapshot->hotspots.push_back(
        {std::make_shared<const std::string>(fmt::format(
             "firetower_hotspot_cpu_seconds_total{{namespace=\"shop\",pod=\"checkout-{:05}\","
             "container=\"server\",function=\"shop::Cart::step_{}\",binary=\"server\"}} ",
             i / 6, i % 6)),
         static_cast<int64_t>(i) * 10'309'278 + 17});
  }
  return snapshot;
}

std::vector<std::string> ReadyLines(const std::string& exposition) {
  std::vector<std::string> lines;
  for (size_t start = 0; start < exposition.size();) {
    size_t end = exposition.find('\n', start) + 1;
    lines.push_back(exposition.substr(start, end - start));
    start = end;
  }
  return lines;
}

// `bytes` is known to both yardsticks, so that they never copy twice.
std::string Floor(const HotspotSnapshot& snapshot, size_t bytes) {
  std::string out;
  out.reserve(bytes);
  for (const CounterSeries& one : snapshot.hotspots) {
    char value[24];
    char* end = std::to_chars(value, value + sizeof(value), one.value).ptr;
    *end++ = '\n';
    out.append(*one.line).append(value, end);
  }
  return out;
}

std::string BareCopy(const std::vector<std::string>& lines, size_t bytes) {
  std::string out;
  out.reserve(bytes);
  for (const std::string& line : lines) out.append(line);
  return out;
}

// Runs `render` once; its CPU in nanoseconds. The text is freed outside of the measure.
template <typename Render>
double Measure(const Render& render) {
  int64_t start = ThreadCpuNs();
  std::string text = render();
  int64_t end = ThreadCpuNs();
  if (text.empty()) g_failed = true;
  return static_cast<double>(end - start);
}

double GzipNs(const std::string& text) {
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(1), &libdeflate_free_compressor);
  std::string out(libdeflate_gzip_compress_bound(compressor.get(), text.size()), '\0');
  int64_t start = ThreadCpuNs();
  size_t size =
      libdeflate_gzip_compress(compressor.get(), text.data(), text.size(), out.data(), out.size());
  if (size == 0) g_failed = true;
  return static_cast<double>(ThreadCpuNs() - start);
}

void Bench(size_t count) {
  std::string name = fmt::format("exposition_{}k", count / 1000);
  double before = HeapBytes();
  std::shared_ptr<const HotspotSnapshot> snapshot = MakeSnapshot(count);
  double bytes_a_series = (HeapBytes() - before) / static_cast<double>(count);
  MetricsRegistry registry;
  registry.PublishHotspots(HotspotKind::kCpu, snapshot);
  for (ExpositionFormat format : {ExpositionFormat::kText, ExpositionFormat::kOpenMetrics}) {
    bool open_metrics = format == ExpositionFormat::kOpenMetrics;
    std::string label = name + (open_metrics ? "_openmetrics" : "_text");
    const std::string text = registry.Render(format);
    const std::vector<std::string> lines = ReadyLines(text);
    std::vector<double> ratios;
    std::vector<double> copy_ratios;
    std::vector<double> floors;
    std::vector<double> ours;
    for (int pair = 0; pair < PairCount(); ++pair) {
      double copy = Measure([&] { return BareCopy(lines, text.size()); });
      floors.push_back(Measure([&] { return Floor(*snapshot, text.size()); }));
      ours.push_back(Measure([&] { return registry.Render(format); }));
      ratios.push_back(ours.back() / floors.back());
      copy_ratios.push_back(ours.back() / copy);
    }
    Print(label + "_ms", Median(ours) / 1e6);
    Print(label + "_floor_ms", Median(floors) / 1e6);
    Print(label + "_x_floor", Median(ratios), kMostTimesFloor);
    Print(label + "_x_bare_copy", Median(copy_ratios));
    if (!open_metrics) {
      Print(name + "_mb", static_cast<double>(text.size()) / 1e6);
      Print(name + "_gzip_ms", GzipNs(text) / 1e6);
    }
  }
  Print(name + "_bytes_a_series", bytes_a_series, kMostBytesASeries);
}

}  // namespace

int Main() {
  // Freed blocks stay with the process: page faults would else hide both sides' own work.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  Bench(10'000);
  if (!bench::ShortForm()) Bench(100'000);
  return g_failed ? 1 : 0;
}

}  // namespace firetower::daemon

int main() { return firetower::daemon::Main(); }
