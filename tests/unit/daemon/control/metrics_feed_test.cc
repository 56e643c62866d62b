// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/metrics_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "tests/support/fake_proc.h"
#include "tests/support/fake_sampler.h"
#include "tests/unit/daemon/control/dated_side.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeProc;
using ::firetower::testing::FakeSampler;
using ::firetower::testing::WriteText;

class StalledCapture : public Capture {
 public:
  void SetWanted(std::optional<CpuSet>, bool) override {}
  Status OpenSideband() override { return OkStatus(); }
  Status Start() override { return OkStatus(); }
  void Stop() override {}
  std::unique_ptr<Round> TryPop() override { return nullptr; }
  void Recycle(std::unique_ptr<Round>) override {}
  uint64_t stalls() const override { return 8; }
  uint64_t lost_sideband() const override { return 0; }
  bool build_ids() const override { return true; }
};

class MetricsFeedTest : public ::testing::Test {
 protected:
  // One container a name; what it ran is in the list of functions.
  struct Ran {
    std::string container;
    std::vector<FunctionSelf> functions;
    bool to_metrics = true;
    size_t top_functions = 0;
  };

  MetricsFeedTest() { sampler_.counters = {}; }

  void Feed(const std::vector<Ran>& all, const std::function<void(Slice&)>& change = {}) {
    Slice slice;
    std::vector<ContainerSlice> containers;
    for (const Ran& ran : all) {
      const std::shared_ptr<const Container> container = Called(ran.container);
      Decision decision;
      decision.to_metrics = ran.to_metrics;
      decision.top_functions = ran.top_functions;
      slice.containers.push_back({container, decision});
      ContainerSlice one;
      one.functions = ran.functions;
      for (const FunctionSelf& function : ran.functions) one.total += function.value;
      containers.push_back(one);
    }
    if (change) change(slice);
    clock_.Advance(5 * kNsPerSecond);
    named_.Take(slice, containers);
    feed_.OnSlice(slice, named_.containers(), named_.gone());
  }
  std::shared_ptr<const Container> Called(const std::string& name) {
    std::shared_ptr<Container>& container = containers_[name];
    if (!container) container = std::make_shared<Container>();
    container->labels = {"-", "pod-1", name};
    return container;
  }
  void Update(uint32_t frequency_hz = 100) {
    feed_.Update(nullptr, nullptr, nullptr, nullptr, frequency_hz);
  }

  // The value of one series; NaN if it is not shown.
  double Value(const std::string& series) {
    std::istringstream lines(registry_.Render(ExpositionFormat::kText));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(series + " ")) return std::stod(line.substr(series.size() + 1));
    }
    return std::nan("");
  }
  // Sum over the series that start so.
  double Sum(const std::string& start) {
    double sum = 0;
    std::istringstream lines(registry_.Render(ExpositionFormat::kText));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(start)) sum += std::stod(line.substr(line.rfind(' ')));
    }
    return sum;
  }
  double Lost(const std::string& reason) {
    return Value("firetower_samples_lost_total{reason=\"" + reason + "\"}");
  }
  double Cut(const std::string& reason) {
    return Value("firetower_unwind_failures_total{reason=\"" + reason + "\"}");
  }
  double Cpu(const std::string& container) {
    return Value("firetower_cpu_seconds_total{namespace=\"-\",pod=\"pod-1\",container=\"" +
                 container + "\"}");
  }
  double Hotspots(const std::string& container) {
    return Sum("firetower_hotspot_cpu_seconds_total{namespace=\"-\",pod=\"pod-1\",container=\"" +
               container + "\"");
  }

  FakeProc proc_;
  FakeSampler sampler_;
  MetricsRegistry registry_;
  FakeClock clock_{1000 * kNsPerSecond, 0};
  std::map<std::string, std::shared_ptr<Container>> containers_;
  ContainerNames names_{nullptr, clock_};
  NamedSelves named_{names_};
  WaitSide waits_{sampler_};
  EventSide events_{sampler_, clock_, "/sys"};
  AllocationSide allocations_{
      {sampler_, clock_, proc_.root(), "/nonexistent", "/nonexistent", [] { return nullptr; }}};
  MetricsFeed feed_{{sampler_, waits_, events_, allocations_, registry_, clock_, proc_.root(), {}}};
};

TEST_F(MetricsFeedTest, AddsHotspotsUpToTheContainersCpu) {
  std::vector<FunctionSelf> many;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("function_" + std::to_string(i));
  int64_t total = 0;
  for (int i = 0; i < 40; ++i) {
    many.push_back({names[static_cast<size_t>(i)], "app", (i + 1) * 10'000'000, i + 1});
    total += many.back().value;
  }
  for (int slice = 0; slice < 30; ++slice) {
    Feed({{"web", many}, {"db", {{"main", "db", 1'000'000'000, 100}}}});
  }
  EXPECT_NEAR(Cpu("web"), 30 * static_cast<double>(total) / 1e9, 1e-6);
  EXPECT_NEAR(Hotspots("web"), Cpu("web"), 1e-6);
  EXPECT_NEAR(Cpu("db"), 30.0, 1e-6);
  EXPECT_NEAR(Hotspots("db"), 30.0, 1e-6);
}

TEST_F(MetricsFeedTest, LeavesOutWhatIsNotForMetrics) {
  Feed({{"web", {{"main", "app", 1'000'000'000, 100}}, false},
        {"db", {{"main", "db", 2'000'000'000, 200}}, true}});
  EXPECT_TRUE(std::isnan(Cpu("web")));
  EXPECT_EQ(Cpu("db"), 2.0);
}

TEST_F(MetricsFeedTest, ShowsAsManyFunctionsAsThePolicySays) {
  std::vector<FunctionSelf> three = {{"a", "app", 3'000'000'000, 300},
                                     {"b", "app", 2'000'000'000, 200},
                                     {"c", "app", 1'000'000'000, 100}};
  Feed({{"web", three, true, 1}, {"db", three, true, 2}});
  auto value = [&](const std::string& container, const std::string& function) {
    return Sum("firetower_hotspot_cpu_seconds_total{namespace=\"-\",pod=\"pod-1\",container=\"" +
               container + "\",function=\"" + function + "\"");
  };
  EXPECT_EQ(value("web", "a"), 3.0);
  EXPECT_EQ(value("web", "other"), 3.0);
  EXPECT_EQ(value("db", "b"), 2.0);
  EXPECT_EQ(value("db", "other"), 1.0);
}

TEST_F(MetricsFeedTest, EndsTheSeriesOfAContainerThatIsGone) {
  auto web_is_gone = [&](Slice& slice) { slice.gone.push_back(Called("web")); };
  Feed({{"web", {{"main", "app", 1'000'000'000, 100}}}}, web_is_gone);
  EXPECT_EQ(Cpu("web"), 1.0) << "a scraper has yet to see its last value";
  clock_.Advance(HotspotTracker::kGoneKeepNs);
  Feed({});
  EXPECT_TRUE(std::isnan(Cpu("web")));
}

TEST_F(MetricsFeedTest, CountsAttributionAndCuts) {
  auto counts = [](Slice& slice) {
    slice.attribution = {.container = 70, .host = 20, .unknown = 3, .pending = 5};
    slice.stops[FT_STOP_ROOT] = 60;
    slice.stops[FT_STOP_PAGE] = 4;
    slice.stops[kStopNoMapping] = 2;
    slice.stops[kStopStackLost] = 1;
  };
  Feed({}, counts);
  Feed({}, counts);
  auto attributed = [&](const std::string& result) {
    return Value("firetower_attribution_total{result=\"" + result + "\"}");
  };
  EXPECT_EQ(attributed("container"), 140);
  EXPECT_EQ(attributed("host"), 40);
  EXPECT_EQ(attributed("unknown"), 6);
  EXPECT_EQ(attributed("pending"), 10);
  EXPECT_EQ(Cut("page"), 8);
  EXPECT_EQ(Cut("no_mapping"), 4);
  EXPECT_EQ(Cut("frame_pointer"), 0) << "shown from the start";
  EXPECT_EQ(Sum("firetower_unwind_failures_total"), 8 + 4 + 2);
  EXPECT_EQ(Lost("stack_unknown"), 2);
}

const Status kFailed = Error(ErrorCode::kUnavailable, "away");

TEST_F(MetricsFeedTest, CountsStoreOperations) {
  feed_.OnStoreOperation("put", OkStatus(), 20'000'000);
  feed_.OnStoreOperation("put", kFailed, 30'000'000);
  EXPECT_EQ(Value("firetower_objectstore_operations_total{operation=\"put\"}"), 2);
  EXPECT_EQ(Value("firetower_objectstore_failures_total{operation=\"put\"}"), 1);
  EXPECT_NEAR(Value("firetower_objectstore_duration_seconds_sum{operation=\"put\"}"), 0.05, 1e-9);
}

TEST_F(MetricsFeedTest, KnowsWhetherTheStoreTookTheLastWrite) {
  EXPECT_FALSE(feed_.store_fails());
  feed_.OnStoreOperation("put", kFailed, 0);
  EXPECT_TRUE(feed_.store_fails());
  feed_.OnStoreOperation("retention", OkStatus(), 0);
  EXPECT_TRUE(feed_.store_fails()) << "what can be deleted can be full";
  feed_.OnStoreOperation("put", OkStatus(), 0);
  EXPECT_FALSE(feed_.store_fails());
  feed_.OnStoreOperation("retention", kFailed, 0);
  EXPECT_FALSE(feed_.store_fails());
}

TEST_F(MetricsFeedTest, ShowsEveryLossFromTheStart) {
  for (const char* reason : {"ring_full", "stack_ring_full", "cgroup_ring_full", "no_cgroup",
                             "exec", "skipped", "sideband", "stack_unknown", "store"}) {
    EXPECT_EQ(Lost(reason), 0) << reason;
  }
}

TEST_F(MetricsFeedTest, ShowsWhatMetABound) {
  auto refused = [&](const std::string& reason) {
    return Value("firetower_refused_total{reason=\"" + reason + "\"}");
  };
  for (const char* reason : {"address_spaces", "bad_records", "capture_stalls", "cgroups",
                             "gate_full", "mappings", "modules", "stack_bodies", "unwind_tables"}) {
    EXPECT_EQ(refused(reason), 0) << reason << ", from the start";
  }
  StalledCapture capture;
  PipelineFigures figures;
  figures.bad_records = 1;
  figures.refused_stacks = 2;
  figures.refused_cgroups = 3;
  figures.refused_modules = 4;
  figures.refused_mappings = 9;
  figures.refused_tables = 5;
  figures.refused_spaces = 6;
  sampler_.counters.value[FT_COUNT_GATE_FULL] = 7;
  feed_.Update(&capture, &figures, nullptr, nullptr, 100);
  EXPECT_EQ(refused("bad_records"), 1);
  EXPECT_EQ(refused("stack_bodies"), 2);
  EXPECT_EQ(refused("cgroups"), 3);
  EXPECT_EQ(refused("modules"), 4);
  EXPECT_EQ(refused("mappings"), 9);
  EXPECT_EQ(refused("unwind_tables"), 5);
  EXPECT_EQ(refused("address_spaces"), 6);
  EXPECT_EQ(refused("gate_full"), 7);
  EXPECT_EQ(refused("capture_stalls"), 8);
  EXPECT_EQ(Sum("firetower_samples_lost_total"), 0) << "no samples";
}

TEST_F(MetricsFeedTest, ShowsHowFarTheStoresClockIsOff) {
  testing::DatedSide dated;
  const auto skew = [&] {
    feed_.Update(nullptr, nullptr, nullptr, &dated.side(), 100);
    return Value("firetower_objectstore_clock_skew_seconds");
  };
  EXPECT_EQ(skew(), 0) << "it was not asked yet";
  ASSERT_TRUE(dated.side().Check(10 * kNsPerSecond));
  // That second ends at the next.
  const double here_s = static_cast<double>(Clock::System().WallNs()) / 1e9;
  EXPECT_NEAR(skew(), testing::DatedSide::kServerS + 1 - here_s, 10);
}

TEST_F(MetricsFeedTest, TakesTheKernelSidesCounters) {
  sampler_.counters.value[FT_COUNT_SAMPLES] = 5820;
  sampler_.counters.value[FT_COUNT_RING_FULL] = 7;
  sampler_.counters.value[FT_COUNT_STACK_RING_FULL] = 8;
  sampler_.counters.value[FT_COUNT_EXEC] = 9;
  sampler_.counters.value[FT_COUNT_REFUSED] = 1000;
  sampler_.counters.value[FT_COUNT_KERNEL_STACK] = 2;
  sampler_.counters.value[FT_COUNT_NO_REGISTERS] = 3;
  sampler_.counters.value[FT_COUNT_RUN_NS] = 1'500'000'000;
  sampler_.map_bytes = 4096;
  Update();
  EXPECT_EQ(Value("firetower_samples_total"), 5820);
  EXPECT_EQ(Lost("ring_full"), 7);
  EXPECT_EQ(Lost("stack_ring_full"), 8);
  EXPECT_EQ(Lost("exec"), 9);
  EXPECT_EQ(Sum("firetower_samples_lost_total"), 7 + 8 + 9) << "a policy's no is no loss";
  EXPECT_EQ(Cut("kernel_stack"), 2);
  EXPECT_EQ(Cut("no_registers"), 3);
  EXPECT_EQ(Value("firetower_bpf_run_seconds_total"), 1.5);
  EXPECT_EQ(Value("firetower_bpf_map_bytes"), 4096);
}

TEST_F(MetricsFeedTest, LooksForSkippedTicksOnceAMinute) {
  auto read = [&](uint64_t counted_s, uint64_t runs, int idle_hundredths) {
    sampler_.counted.ns = counted_s * static_cast<uint64_t>(kNsPerSecond);
    sampler_.counters.value[FT_COUNT_RUNS] = runs;
    WriteText(proc_.root() + "/stat",
              "cpu  0 0 0 " + std::to_string(idle_hundredths) + " 0 0 0 0 0 0\n");
    Update(100);
  };
  read(0, 0, 0);
  clock_.Advance(60 * kNsPerSecond);
  read(120, 9'000, 2'000);  // Two CPUs, 20 s idle: 10,000 ticks due, 1,000 missing.
  EXPECT_EQ(Lost("skipped"), 1'000);
  clock_.Advance(30 * kNsPerSecond);
  read(180, 9'000, 2'000);
  EXPECT_EQ(Lost("skipped"), 1'000) << "too soon";
  clock_.Advance(30 * kNsPerSecond);
  read(240, 21'000, 2'000);
  EXPECT_EQ(Lost("skipped"), 1'000);
}

}  // namespace
}  // namespace firetower::daemon
