// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/metrics_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/file.h"

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Fills the registry like a busy daemon, with names that need every escape.
void Fill(MetricsRegistry& registry) {
  registry.SetInfo(MetricId::kBuildInfo, {"0.1.0"});
  registry.SetInfo(MetricId::kFeatureInfo, {"6.18.5", "v2", "frame-pointer"});
  registry.SetTotal(MetricId::kSamples, 5820);
  registry.Declare(MetricId::kSamplesLost, {"ring_full"});
  registry.Add(MetricId::kAttribution, 12, {"container"});
  registry.Set(MetricId::kPolicies, 2, {"ProfilingPolicy", "active"});
  registry.ObserveStoreOperation("put", 0.02, false);
  registry.ObserveStoreOperation("put", 20, true);
  registry.SetBpfCost(1'500'000'000, 4096);
  registry.SetOverhead(OverheadMeter().Read());

  HotspotTracker tracker({});
  FunctionSelf functions[] = {{"main", "app", 1'500'000'000, 100},
                              {"a\\b\"c\nd", "lib\xff.so", 250'000'001, 20}};
  ContainerSlice slice{{"shop", "pod-1", "web"}, functions, 2'000'000'000};
  slice.workload_kind = "Deployment";
  slice.workload = "checkout";
  tracker.AddSlice(5'000'000'000, {&slice, 1});
  registry.PublishHotspots(HotspotKind::kCpu, tracker.Snapshot());
}

std::string WriteTemporary(const std::string& text) {
  std::string path = ::testing::TempDir() + "/metrics-" + std::to_string(::getpid());
  std::ofstream(path) << text;
  return path;
}

// Returns the output of a shell command, and its exit status.
std::pair<std::string, int> Shell(const std::string& command) {
  std::string out;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  char chunk[4096];
  for (size_t n = 0; (n = fread(chunk, 1, sizeof(chunk), pipe)) > 0;) out.append(chunk, n);
  return {out, ::pclose(pipe)};
}

TEST(MetricsRegistry, ShowsKnownLabelsAsZeroFromTheStart) {
  std::string text = MetricsRegistry().Render(ExpositionFormat::kText);
  for (const char* line :
       {"firetower_samples_total 0\n", "firetower_attribution_total{result=\"unknown\"} 0\n",
        "firetower_attribution_total{result=\"container\"} 0\n",
        "firetower_objectstore_failures_total{operation=\"put\"} 0\n",
        "firetower_objectstore_failures_total{operation=\"spool\"} 0\n",
        "firetower_objectstore_failures_total{operation=\"retention\"} 0\n",
        "firetower_objectstore_duration_seconds_count{operation=\"spool\"} 0\n",
        "firetower_overhead_cpu_seconds_total{component=\"bpf\"} 0\n",
        "firetower_metric_series_dropped_total{family=\"firetower_hotspot_cpu_seconds_total\"} 0\n",
        "firetower_user_reads_refused 0\n", "process_cpu_seconds_total 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(MetricsRegistry, EveryFamilyHasAHeadOnce) {
  MetricsRegistry registry;
  Fill(registry);
  std::string text = registry.Render(ExpositionFormat::kText);
  for (const FamilySpec& spec : MetricFamilies()) {
    std::string head = "# TYPE " + std::string(spec.name) + " ";
    size_t first = text.find(head);
    ASSERT_NE(first, std::string::npos) << spec.name;
    EXPECT_EQ(text.find(head, first + 1), std::string::npos) << spec.name;
  }
}

TEST(MetricsRegistry, RendersHotspotsThatAddUp) {
  MetricsRegistry registry;
  Fill(registry);
  std::string text = registry.Render(ExpositionFormat::kText);
  const std::string where = "namespace=\"shop\",pod=\"pod-1\",container=\"web\"";
  const std::string hotspot = "firetower_hotspot_cpu_seconds_total{" + where;
  EXPECT_THAT(text, HasSubstr("\nfiretower_cpu_seconds_total{" + where + "} 2\n"));
  EXPECT_THAT(text, HasSubstr(hotspot + ",function=\"main\",binary=\"app\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr(hotspot + ",function=\"a\\\\b\\\"c\\nd\",binary=\"lib\uFFFD.so\"} "
                                        "0.250000001\n"));
  EXPECT_THAT(text, HasSubstr(hotspot + ",function=\"other\",binary=\"\"} 0.249999999\n"));
  EXPECT_THAT(text,
              HasSubstr("firetower_metric_series{family=\"firetower_cpu_seconds_total\"} 1\n"));
}

TEST(MetricsRegistry, TotalsNeverFall) {
  MetricsRegistry registry;
  registry.SetTotal(MetricId::kSamples, 10);
  registry.SetTotal(MetricId::kSamples, 7);
  EXPECT_THAT(registry.Render(ExpositionFormat::kText), HasSubstr("firetower_samples_total 10\n"));
  registry.SetTotal(MetricId::kSamples, 12);
  EXPECT_THAT(registry.Render(ExpositionFormat::kText), HasSubstr("firetower_samples_total 12\n"));
}

TEST(MetricsRegistry, FullFamiliesDropAndCount) {
  MetricsRegistry registry;
  size_t most = SpecOf(MetricId::kSamplesLost).max_series;
  for (size_t i = 0; i < most + 3; ++i) {
    registry.Add(MetricId::kSamplesLost, 1, {"reason-" + std::to_string(100 + i)});
  }
  std::string text = registry.Render(ExpositionFormat::kText);
  EXPECT_THAT(text, HasSubstr("{reason=\"reason-" + std::to_string(99 + most) + "\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("{reason=\"reason-" + std::to_string(100 + most))));
  EXPECT_THAT(text, HasSubstr("firetower_metric_series_dropped_total{family=\"firetower_samples_"
                              "lost_total\"} 3\n"));
}

TEST(MetricsRegistry, ScrapesBesideWriters) {
  MetricsRegistry registry;
  std::atomic<bool> stop{false};
  std::thread scraper([&] {
    while (!stop) EXPECT_FALSE(registry.Render(ExpositionFormat::kOpenMetrics).empty());
  });
  for (int i = 0; i < 50; ++i) Fill(registry);
  stop = true;
  scraper.join();
  EXPECT_THAT(registry.Render(ExpositionFormat::kText),
              HasSubstr("firetower_objectstore_failures_total{operation=\"put\"} 50\n"));
}

TEST(MetricsRegistry, PromtoolFindsNothing) {
  if (Shell("promtool --version").second != 0) {
    GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
  }
  MetricsRegistry registry;
  Fill(registry);
  std::string path = WriteTemporary(registry.Render(ExpositionFormat::kText));
  auto [out, status] = Shell("promtool check metrics < " + path);
  ::unlink(path.c_str());
  EXPECT_EQ(status, 0) << out;
  EXPECT_EQ(out, "");
}

// The OpenMetrics project's reference parser, as Debian packages it: it raises an error on anything
// that the specification forbids. Prints the values of one counter.
constexpr const char* kParser =
    "/usr/bin/python3 -c '"
    "import sys\n"
    "from prometheus_client.openmetrics import parser\n"
    "families = list(parser.text_string_to_metric_families(open(sys.argv[1]).read()))\n"
    "print(len(families), *[(s.labels[\"function\"], s.value) for f in families\n"
    "      if f.name == \"firetower_hotspot_cpu_seconds\" for s in f.samples])' ";

TEST(MetricsRegistry, ReferenceParserReadsOpenMetrics) {
  if (Shell("/usr/bin/python3 -c 'import prometheus_client.openmetrics.parser'").second != 0) {
    GTEST_SKIP() << "prometheus_client is not installed (Debian package python3-prometheus-client)";
  }
  MetricsRegistry registry;
  Fill(registry);
  std::string path = WriteTemporary(registry.Render(ExpositionFormat::kOpenMetrics));
  auto [out, status] = Shell(kParser + path);
  ::unlink(path.c_str());
  EXPECT_EQ(status, 0) << out;
  EXPECT_EQ(out, std::to_string(kMetricCount) +
                     " ('main', 1.5) ('a\\\\b\"c\\nd', 0.250000001) ('other', 0.249999999)\n");
}

TEST(MetricsRegistry, TellsWhatAPodBelongsTo) {
  MetricsRegistry registry;
  Fill(registry);
  for (const ExpositionFormat format : {ExpositionFormat::kText, ExpositionFormat::kOpenMetrics}) {
    EXPECT_THAT(registry.Render(format),
                HasSubstr("\nfiretower_workload_info{namespace=\"shop\",pod=\"pod-1\","
                          "workload_kind=\"Deployment\",workload=\"checkout\"} 1\n"));
  }
}

// To update the page: FIRETOWER_UPDATE_GOLDEN=1 <this test>.
TEST(MetricFamilies, ReferencePageIsUpToDate) {
  const std::string path = FIRETOWER_SOURCE_DIR "/docs/reference/metrics.md";
  if (std::getenv("FIRETOWER_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << MetricsMarkdown();
  auto page = ReadFile(path);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(*page, MetricsMarkdown());
}

TEST(MetricFamilies, StandAtTheirOwnIndex) {
  for (const FamilySpec& spec : MetricFamilies()) EXPECT_EQ(SpecOf(spec.id).name, spec.name);
}

}  // namespace
}  // namespace firetower::daemon
