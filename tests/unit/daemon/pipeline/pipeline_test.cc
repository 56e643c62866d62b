// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <map>
#include <string>

#include "tests/support/fake_proc.h"
#include "tests/support/fake_sampler.h"
#include "tests/support/no_tables.h"
#include "tests/support/rounds.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::AddBody;
using ::firetower::testing::SampleOf;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr int64_t kMonotonicNs = 1000 * kNsPerSecond;
constexpr int64_t kWindowNs = 60 * kNsPerSecond;
constexpr int64_t kSliceNs = 5 * kNsPerSecond;
constexpr int64_t kWallNs = 1'763'700'000 * kNsPerSecond;  // a multiple of a minute

// Rounds that wait from the start, each with the time at which it comes: the clock goes there when
// the resolve thread takes it.
class ListedRounds : public Capture {
 public:
  explicit ListedRounds(FakeClock& clock) : clock_(clock) {}

  void SetWanted(std::optional<CpuSet> wanted, bool wants_others) override {
    cpus = std::move(wanted);
    others = wants_others;
  }
  Status OpenSideband() override { return OkStatus(); }
  Status Start() override { return OkStatus(); }
  void Stop() override {}
  std::unique_ptr<Round> TryPop() override {
    if (rounds.empty()) return nullptr;
    auto [after_ns, step_ns, round] = std::move(rounds.front());
    rounds.pop_front();
    clock_.Advance(after_ns);
    clock_.StepWall(step_ns);
    return std::move(round);
  }
  void Recycle(std::unique_ptr<Round>) override { ++recycled; }
  uint64_t stalls() const override { return 0; }
  uint64_t lost_sideband() const override { return 0; }
  bool build_ids() const override { return true; }

  struct Coming {
    int64_t after_ns = 0;  // since the last one
    int64_t step_ns = 0;   // of the wall clock alone
    std::unique_ptr<Round> round;
  };
  std::deque<Coming> rounds;
  int recycled = 0;
  std::optional<CpuSet> cpus;
  bool others = false;

 private:
  FakeClock& clock_;
};

class NoSymbols : public SymbolRequests {
 public:
  void Want(const std::shared_ptr<const Module>&, const Process&, const ProcessMapping&) override {}
};

// Answers by the container's label.
class Rates : public Selection {
 public:
  Rates(std::map<std::string, uint32_t> by_label, uint32_t base_hz,
        std::shared_ptr<const TaskFilter> filter = nullptr)
      : by_label_(std::move(by_label)), base_hz_(base_hz), filter_(std::move(filter)) {}
  uint32_t frequency_hz() const override { return base_hz_; }
  bool everything() const override { return false; }
  bool filters() const override { return filter_ != nullptr; }
  std::optional<CpuSet> cpus() const override { return filter_ ? filter_->cpus() : std::nullopt; }

 private:
  Decision DecideOn(const Container& container, Type type) const override {
    Decision decision;
    if (type != FT_TYPE_CPU) return decision;
    auto found = by_label_.find(container.labels.container);
    decision.sampled = found != by_label_.end();
    if (decision.sampled) decision.frequency_hz = found->second;
    decision.filter = filter_;
    return decision;
  }

  std::map<std::string, uint32_t> by_label_;
  uint32_t base_hz_;
  std::shared_ptr<const TaskFilter> filter_;
};

PipelineOptions Options() {
  PipelineOptions options;
  options.slice_ns = kSliceNs;
  options.window_ns = kWindowNs;
  return options;
}

class PipelineTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kApp = 11, kCron = 13;

  PipelineTest() {
    cgroups_.Add(kApp, "/docker/" + std::string(64, 'a'));
    cgroups_.Add(kCron, "/system.slice/cron.service");
  }

  // A round that comes `after_ns` later, with a sample of each time (ns since the start).
  void Round(int64_t after_ns, const std::vector<int64_t>& times, int64_t step_ns = 0) {
    auto round = std::make_unique<daemon::Round>();
    AddBody(*round, {.hash = 1, .tgid = 7, .user = {0x1000}});
    for (int64_t time : times) {
      round->samples.push_back(SampleOf(kMonotonicNs + time, 1, kApp, 7));
    }
    capture_.rounds.push_back({after_ns, step_ns, std::move(round)});
  }
  // Runs all rounds, and a last one, through the thread.
  void Run() {
    Round(0, {});
    capture_.rounds.back().round->horizon_ns = std::numeric_limits<int64_t>::max();
    pipeline_.Start(capture_);
    pipeline_.Notify();
    pipeline_.Finish();
    while (auto slice = pipeline_.TryPop()) slices_.push_back(std::move(slice));
  }
  static uint64_t SamplesOf(const Slice& slice) {
    uint64_t samples = 0;
    for (const Slice::Row& row : slice.rows) samples += row.amount.count;
    return samples;
  }
  std::vector<uint64_t> SamplesBySlice() {
    std::vector<uint64_t> samples;
    for (const auto& slice : slices_) samples.push_back(SamplesOf(*slice));
    return samples;
  }

  testing::FakeProc proc_;
  testing::ScratchFolder mount_;
  FakeClock clock_{kMonotonicNs, kWallNs};
  testing::FakeSampler sampler_;
  CgroupTree cgroups_{mount_.path()};
  ModuleRegistry modules_;
  ProcessTable processes_{modules_, ProcFs(proc_.root()), clock_};
  NoSymbols symbols_;
  testing::NoTables tables_;
  ListedRounds capture_{clock_};
  int told_ = 0;
  Pipeline pipeline_{sampler_, cgroups_, processes_, modules_,           symbols_,
                     tables_,  clock_,   Options(),  [this] { ++told_; }};
  std::vector<std::unique_ptr<Slice>> slices_;
};

TEST_F(PipelineTest, EndsSlicesAtMultiplesOfTheWallClock) {
  clock_.StepWall(2 * kNsPerSecond);
  Round(kNsPerSecond, {0, 100});
  Round(3 * kNsPerSecond, {3 * kNsPerSecond - 1, 3 * kNsPerSecond, 3 * kNsPerSecond + 1});
  Run();
  EXPECT_THAT(SamplesBySlice(), ElementsAre(3, 2));
  EXPECT_EQ(slices_[0]->begin_wall_ns, kWallNs + 2 * kNsPerSecond);
  EXPECT_EQ(slices_[0]->end_wall_ns, kWallNs + 5 * kNsPerSecond);
  EXPECT_EQ(slices_[1]->begin_wall_ns, kWallNs + 6 * kNsPerSecond);
  EXPECT_FALSE(slices_[0]->ends_window);
  EXPECT_EQ(capture_.recycled, 3);
  EXPECT_GE(told_, 2);
}

TEST_F(PipelineTest, EndsTheWindowWithItsLastSlice) {
  Round(0, {0});
  Round(59 * kNsPerSecond, {56 * kNsPerSecond});
  Round(2 * kNsPerSecond, {61 * kNsPerSecond});
  Run();
  ASSERT_THAT(slices_, SizeIs(3));
  EXPECT_THAT(SamplesBySlice(), ElementsAre(1, 1, 1));
  EXPECT_FALSE(slices_[0]->ends_window);
  EXPECT_TRUE(slices_[1]->ends_window);
  EXPECT_EQ(slices_[1]->end_wall_ns, kWallNs + kWindowNs);
  EXPECT_EQ(slices_[1]->window_start_ns, kWallNs);
  EXPECT_TRUE(slices_[2]->ends_window) << "the last one ends its window whenever it comes";
  EXPECT_EQ(slices_[2]->window_start_ns, kWallNs + kWindowNs);
  EXPECT_THAT(sampler_.epochs, ElementsAre(1, 2, 3)) << "stacks are sent anew in each window";
}

// Source like the kernel side: a stack is sent with its first sample in each epoch.
class FreshStacks : public ListedRounds {
 public:
  FreshStacks(FakeClock& clock, const testing::FakeSampler& sampler, int count)
      : ListedRounds(clock), sampler_(sampler), left_(count) {}
  std::unique_ptr<Round> TryPop() override {
    if (left_ == 0) return ListedRounds::TryPop();
    --left_;
    auto round = std::make_unique<Round>();
    AddBody(*round, {.hash = ++hash_,
                     .tgid = 7,
                     .user = std::vector<uint64_t>(100, 0x1000),
                     .epoch = sampler_.epochs.back()});
    round->samples.push_back(SampleOf(kMonotonicNs, hash_, 11, 7));
    return round;
  }

 private:
  const testing::FakeSampler& sampler_;
  int left_;
  uint64_t hash_ = 0;
};

TEST_F(PipelineTest, LosesNoStackOfABusyWindow) {
  // 1,000 stacks of 100 frames within one window, in a store for 160 of them.
  FreshStacks capture(clock_, sampler_, 1000);
  PipelineOptions options = Options();
  options.stack_words = 16384;
  Pipeline pipeline(sampler_, cgroups_, processes_, modules_, symbols_, tables_, clock_, options,
                    [] {});
  capture.rounds.push_back({0, 0, std::make_unique<daemon::Round>()});
  capture.rounds.back().round->horizon_ns = std::numeric_limits<int64_t>::max();
  pipeline.Start(capture);
  pipeline.Notify();
  pipeline.Finish();
  std::unique_ptr<Slice> slice = pipeline.TryPop();
  ASSERT_NE(slice, nullptr);
  EXPECT_EQ(SamplesOf(*slice), 1000u);
  EXPECT_EQ(slice->stops[kStopStackLost], 0u);
  EXPECT_GT(sampler_.epochs.size(), 1000u / 160);
}

TEST_F(PipelineTest, TellsEachModuleOnce) {
  uint32_t known = modules_.Intern({"/bin/a", {}, 1, 2});
  Round(0, {0});
  auto round = std::make_unique<daemon::Round>();
  testing::AddMap(*round, kMonotonicNs + 5 * kNsPerSecond, {7, 0x1000, 0x1000, 0, "/bin/b", 3});
  round->samples.push_back(SampleOf(kMonotonicNs + 6 * kNsPerSecond, 1, kApp, 7));
  capture_.rounds.push_back({6 * kNsPerSecond, 0, std::move(round)});
  Run();
  ASSERT_THAT(slices_, SizeIs(2));
  std::map<uint32_t, std::string> paths;
  for (const auto& slice : slices_) {
    for (const NumberedModule& numbered : slice->modules) {
      EXPECT_TRUE(paths.try_emplace(numbered.id, numbered.module->path).second) << numbered.id;
    }
  }
  ASSERT_EQ(paths.size(), modules_.size());
  EXPECT_EQ(paths[known], "/bin/a");
  EXPECT_EQ(paths[known + 1], "/bin/b");
}

TEST_F(PipelineTest, FollowsAWallClockThatIsSetBack) {
  Round(kNsPerSecond, {0});
  // An hour back, within the first slice: that one ends when it was going to.
  Round(kNsPerSecond, {2 * kNsPerSecond}, -3600 * kNsPerSecond);
  Round(4 * kNsPerSecond, {6 * kNsPerSecond});
  Run();
  EXPECT_THAT(SamplesBySlice(), ElementsAre(2, 1));
  EXPECT_EQ(slices_[0]->end_wall_ns, kWallNs + kSliceNs);
  EXPECT_EQ(slices_[1]->begin_wall_ns, kWallNs - 3600 * kNsPerSecond + 6 * kNsPerSecond);
  EXPECT_EQ(slices_[1]->window_start_ns, kWallNs - 3600 * kNsPerSecond);
}

TEST_F(PipelineTest, LosesNothingWhileNobodyTakesItsSlices) {
  const int slices = static_cast<int>(Pipeline::kSlicesInFlight) + 20;
  for (int i = 0; i < slices; ++i) Round(kSliceNs, {i * kSliceNs + 1});
  Run();
  uint64_t samples = 0;
  for (const auto& slice : slices_) samples += SamplesOf(*slice);
  EXPECT_EQ(samples, static_cast<uint64_t>(slices));
  EXPECT_EQ(slices_.size(), Pipeline::kSlicesInFlight + 1);
  EXPECT_TRUE(slices_.back()->ends_window);
}

TEST_F(PipelineTest, CountsWhatStillWaitsAtTheEnd) {
  auto round = std::make_unique<daemon::Round>();
  round->samples.push_back(SampleOf(kMonotonicNs, 1, 999, 7));
  capture_.rounds.push_back({0, 0, std::move(round)});
  Run();
  ASSERT_THAT(slices_, SizeIs(1));
  EXPECT_EQ(slices_[0]->attribution.unknown, 1u);
  EXPECT_TRUE(pipeline_.finished());
}

TEST_F(PipelineTest, CountsWhatItRefuses) {
  auto round = std::make_unique<daemon::Round>();
  round->bad_records = 3;
  std::vector<uint64_t> deep(StackStore::kMaxWords / 64, 0x1000);
  for (uint64_t hash = 1; hash <= 66; ++hash)
    AddBody(*round, {.hash = hash, .tgid = 7, .user = deep});
  capture_.rounds.push_back({0, 0, std::move(round)});
  Run();
  EXPECT_EQ(pipeline_.figures().bad_records, 3u);
  EXPECT_EQ(pipeline_.figures().refused_stacks, 2u);
}

TEST_F(PipelineTest, SetsRateAndVerdicts) {
  pipeline_.SetSelection(
      std::make_shared<Rates>(std::map<std::string, uint32_t>{{std::string(12, 'a'), 50}}, 200));
  Run();
  EXPECT_THAT(sampler_.frequencies, ElementsAre(200));
  // Everything is sampled at the full rate until a decision exists.
  EXPECT_EQ(sampler_.fallback.of[FT_TYPE_CPU].kind, FT_VERDICT_PENDING);
  EXPECT_EQ(sampler_.fallback.of[FT_TYPE_CPU].child, FT_VERDICT_PENDING);
  EXPECT_EQ(sampler_.fallback.of[FT_TYPE_CPU].keep, uint32_t{FT_KEEP_ALL});
  EXPECT_EQ(sampler_.fallback.of[FT_TYPE_CPU].value, 5'000'000u);
  // A quarter of the ticks, each for four times the period; its children inherit that.
  const ft_verdict& app = sampler_.verdicts.at(kApp).of[FT_TYPE_CPU];
  EXPECT_EQ(app.kind, FT_VERDICT_YES);
  EXPECT_EQ(app.child, FT_VERDICT_YES);
  EXPECT_EQ(app.keep, uint32_t{FT_KEEP_ALL} / 4);
  EXPECT_EQ(app.value, 20'000'000u);
  // A service is not sampled, but may start containers below it.
  const ft_verdict& cron = sampler_.verdicts.at(kCron).of[FT_TYPE_CPU];
  EXPECT_EQ(cron.kind, FT_VERDICT_NO);
  EXPECT_EQ(cron.child, FT_VERDICT_PENDING);
}

TEST_F(PipelineTest, TellsTheKernelSideOfFilters) {
  k8s::FilterSpec spec;
  spec.threads = {"GC"};
  spec.cpus = "1,64";
  auto filter = TaskFilter::Of({std::make_shared<PolicyFilter>(spec)});
  pipeline_.SetSelection(std::make_shared<Rates>(
      std::map<std::string, uint32_t>{{std::string(12, 'a'), 50}}, 50, filter));
  Run();
  const ft_verdict& app = sampler_.verdicts.at(kApp).of[FT_TYPE_CPU];
  EXPECT_EQ(app.tasks, 1);
  ASSERT_EQ(app.cpus, 1);
  EXPECT_EQ(sampler_.cpu_sets.at(1).word[0], uint64_t{2});
  EXPECT_EQ(sampler_.cpu_sets.at(1).word[1], uint64_t{1});
  EXPECT_NE(sampler_.tasks_version, 0u);
  EXPECT_EQ(capture_.cpus, filter->cpus());
}

TEST_F(PipelineTest, SetsNoVerdictForACgroupThatDiedBeforeItWasTold) {
  pipeline_.SetSelection(
      std::make_shared<Rates>(std::map<std::string, uint32_t>{{std::string(12, 'a'), 50}}, 200));
  auto round = std::make_unique<daemon::Round>();
  const std::string born = "/docker/" + std::string(64, 'a') + "/born";
  testing::AddCgroup(*round, kMonotonicNs, FT_CGROUP_MKDIR, 50, born);
  testing::AddCgroup(*round, kMonotonicNs + 1, FT_CGROUP_MKDIR, 51, born + "2");
  sampler_.verdicts[51] = {};  // as the kernel side does at its birth
  capture_.rounds.push_back({0, 0, std::move(round)});
  Run();
  EXPECT_EQ(sampler_.verdicts.count(50), 0u);
  EXPECT_EQ(sampler_.verdicts.at(51).of[FT_TYPE_CPU].kind, FT_VERDICT_YES);
}

TEST_F(PipelineTest, KeepsSumsWhateverTheShare) {
  for (uint32_t hertz : {1u, 3u, 19u, 97u, 100u, 199u}) {
    testing::FakeSampler sampler;
    Pipeline pipeline(sampler, cgroups_, processes_, modules_, symbols_, tables_, clock_, Options(),
                      [] {});
    pipeline.SetSelection(std::make_shared<Rates>(
        std::map<std::string, uint32_t>{{std::string(12, 'a'), hertz}}, 199));
    ListedRounds capture(clock_);
    capture.rounds.push_back({0, 0, std::make_unique<daemon::Round>()});
    capture.rounds.back().round->horizon_ns = std::numeric_limits<int64_t>::max();
    pipeline.Start(capture);
    pipeline.Notify();
    pipeline.Finish();
    const ft_verdict& app = sampler.verdicts.at(kApp).of[FT_TYPE_CPU];
    double kept_a_second = 199.0 * app.keep / FT_KEEP_ALL;
    EXPECT_NEAR(kept_a_second, hertz, hertz * 0.01) << hertz;
    EXPECT_NEAR(kept_a_second * static_cast<double>(app.value), 1e9, 1e9 * 1e-5) << hertz;
  }
}

TEST_F(PipelineTest, KeepsTheOldSelectionWhenTheRateIsRefused) {
  sampler_.refuse_frequency = true;
  pipeline_.SetSelection(std::make_shared<Rates>(std::map<std::string, uint32_t>{}, 200));
  Round(0, {0});
  Run();
  EXPECT_TRUE(sampler_.verdicts.empty());
  EXPECT_THAT(SamplesBySlice(), ElementsAre(1));
}

}  // namespace
}  // namespace firetower::daemon
