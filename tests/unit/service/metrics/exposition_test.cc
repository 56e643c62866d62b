// SPDX-License-Identifier: Apache-2.0
#include "service/metrics/exposition.h"

#include <gtest/gtest.h>

#include <limits>

namespace firetower::service {
namespace {

std::string Text(const MetricFamily& family) {
  ExpositionWriter writer(ExpositionFormat::kText);
  writer.Family(family);
  return std::move(writer).Finish();
}

std::string OpenMetrics(const MetricFamily& family) {
  ExpositionWriter writer(ExpositionFormat::kOpenMetrics);
  writer.Family(family);
  return std::move(writer).Finish();
}

MetricPoint Point(std::vector<LabelPair> labels, double value) {
  MetricPoint point;
  point.labels = std::move(labels);
  point.value = value;
  return point;
}

// Expected texts follow the examples of the two format descriptions.
TEST(Exposition, CounterLosesTotalInOpenMetricsHeadsOnly) {
  MetricFamily family{"http_requests_total",
                      "Requests.",
                      MetricKind::kCounter,
                      {Point({{"method", "post"}, {"code", "200"}}, 1027), Point({}, 0.5)}};
  EXPECT_EQ(Text(family),
            "# HELP http_requests_total Requests.\n"
            "# TYPE http_requests_total counter\n"
            "http_requests_total{method=\"post\",code=\"200\"} 1027\n"
            "http_requests_total 0.5\n");
  EXPECT_EQ(OpenMetrics(family),
            "# HELP http_requests Requests.\n"
            "# TYPE http_requests counter\n"
            "http_requests_total{method=\"post\",code=\"200\"} 1027\n"
            "http_requests_total 0.5\n"
            "# EOF\n");
}

TEST(Exposition, UnitsFollowTheName) {
  MetricFamily family{"x_cpu_seconds_total", "C.", MetricKind::kCounter, {}};
  EXPECT_EQ(OpenMetrics(family),
            "# HELP x_cpu_seconds C.\n# TYPE x_cpu_seconds counter\n# UNIT x_cpu_seconds seconds\n"
            "# EOF\n");
  EXPECT_EQ(Text(family).find("UNIT"), std::string::npos);
  EXPECT_NE(OpenMetrics({"map_bytes", "B.", MetricKind::kGauge, {}}).find("# UNIT map_bytes bytes"),
            std::string::npos);
  // The unit is a word of its own at the end.
  EXPECT_EQ(OpenMetrics({"megabytes", "B.", MetricKind::kGauge, {}}).find("UNIT"),
            std::string::npos);
}

TEST(Exposition, InfoIsAGaugeInText) {
  MetricFamily family{"build_info", "Build.", MetricKind::kInfo, {Point({{"version", "1"}}, 1)}};
  EXPECT_EQ(Text(family),
            "# HELP build_info Build.\n# TYPE build_info gauge\nbuild_info{version=\"1\"} 1\n");
  EXPECT_EQ(OpenMetrics(family),
            "# HELP build Build.\n# TYPE build info\nbuild_info{version=\"1\"} 1\n# EOF\n");
}

TEST(Exposition, HistogramBoundsAreFloatsInOpenMetrics) {
  MetricPoint point = Point({{"op", "put"}}, 0);
  point.buckets = {{0.05, 2}, {1, 3}, {std::numeric_limits<double>::infinity(), 4}};
  point.count = 4;
  point.sum = 12.5;
  MetricFamily family{"t_seconds", "T.", MetricKind::kHistogram, {point}};
  EXPECT_EQ(Text(family),
            "# HELP t_seconds T.\n# TYPE t_seconds histogram\n"
            "t_seconds_bucket{op=\"put\",le=\"0.05\"} 2\n"
            "t_seconds_bucket{op=\"put\",le=\"1\"} 3\n"
            "t_seconds_bucket{op=\"put\",le=\"+Inf\"} 4\n"
            "t_seconds_sum{op=\"put\"} 12.5\n"
            "t_seconds_count{op=\"put\"} 4\n");
  EXPECT_NE(OpenMetrics(family).find("t_seconds_bucket{op=\"put\",le=\"1.0\"} 3\n"),
            std::string::npos);
}

TEST(Exposition, EscapesLabelsAndHelp) {
  MetricFamily family{
      "m", "a \\ \"b\"\nc", MetricKind::kGauge, {Point({{"l", "C:\\DIR\\\n\"x\""}}, 1)}};
  EXPECT_EQ(Text(family),
            "# HELP m a \\\\ \"b\"\\nc\n# TYPE m gauge\nm{l=\"C:\\\\DIR\\\\\\n\\\"x\\\"\"} 1\n");
  EXPECT_NE(OpenMetrics(family).find("# HELP m a \\\\ \\\"b\\\"\\nc\n"), std::string::npos);
}

TEST(Exposition, SpecialNumbers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  MetricFamily family{"m",
                      "M.",
                      MetricKind::kGauge,
                      {Point({}, kInfinity), Point({}, -kInfinity),
                       Point({}, std::numeric_limits<double>::quiet_NaN())}};
  EXPECT_EQ(Text(family), "# HELP m M.\n# TYPE m gauge\nm +Inf\nm -Inf\nm NaN\n");
}

TEST(Exposition, SecondsAreExactToTheNanosecond) {
  auto line = std::make_shared<const std::string>("s_total{a=\"b\"} ");
  struct Case {
    int64_t ns;
    const char* text;
  };
  for (const Case& one : {Case{0, "0"}, Case{1, "0.000000001"}, Case{1'500'000'000, "1.5"},
                          Case{60'000'000'000, "60"}, Case{123'456'789'012, "123.456789012"},
                          Case{10'309'278, "0.010309278"},
                          Case{std::numeric_limits<int64_t>::max(), "9223372036.854775807"}}) {
    ExpositionWriter writer(ExpositionFormat::kText);
    std::vector<CounterSeries> series{{line, one.ns}, {line, one.ns}};
    writer.SecondsFamily("s_total", "S.", series);
    std::string expected = std::string("s_total{a=\"b\"} ") + one.text + "\n";
    EXPECT_EQ(std::move(writer).Finish(),
              "# HELP s_total S.\n# TYPE s_total counter\n" + expected + expected);
  }
}

}  // namespace
}  // namespace firetower::service
