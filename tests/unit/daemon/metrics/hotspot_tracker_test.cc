// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/hotspot_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>

namespace firetower::daemon {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSlice = 5 * kSecond;
constexpr int64_t kWindow = 60 * kSecond;

// A node whose slices a test writes down as {function: milliseconds}.
class Node {
 public:
  explicit Node(const HotspotTracker::Options& options = {}) : tracker_(options) {}

  using Functions = std::map<std::string, int64_t>;

  void Slice(const std::map<std::string, Functions>& containers) {
    now_ += kSlice;
    std::deque<std::vector<FunctionSelf>> functions;
    std::vector<ContainerSlice> slices;
    for (const auto& [container, spent] : containers) {
      int64_t total = 0;
      functions.emplace_back();
      for (const auto& [name, ms] : spent) {
        functions.back().push_back({name, "bin", ms * kMs, std::max<int64_t>(1, ms / 10)});
        total += ms * kMs;
      }
      slices.push_back({Labels(container), functions.back(), total, asked_});
    }
    tracker_.AddSlice(now_, slices);
  }
  void Slice(const Functions& functions) { Slice({{"c", functions}}); }
  // One whole window of equal slices.
  void Window(const Functions& functions) {
    for (int64_t i = 0; i < kWindow / kSlice; ++i) Slice(functions);
  }
  void Idle(int64_t ns) { now_ += ns; }
  // Function series of each container from the next slice on; 0: as many as the node gives.
  void AskFor(size_t top_functions) { asked_ = top_functions; }

  static ContainerLabels Labels(const std::string& container) { return {"ns", "pod", container}; }
  std::set<std::string> Residents(const std::string& container = "c") const {
    std::set<std::string> names;
    for (const auto& resident : tracker_.Find(Labels(container))->residents()) {
      names.insert(resident.function);
    }
    return names;
  }
  // Exposed milliseconds of a function; 0 when it has no series.
  int64_t Shown(const std::string& function, const std::string& container = "c") const {
    for (const auto& resident : tracker_.Find(Labels(container))->residents()) {
      if (resident.function == function) return resident.value / kMs;
    }
    return 0;
  }
  int64_t Other() const { return tracker_.Find(Labels("c"))->other() / kMs; }
  HotspotTracker& tracker() { return tracker_; }
  int64_t now() const { return now_; }

 private:
  HotspotTracker tracker_;
  int64_t now_ = 0;
  size_t asked_ = 0;
};

TEST(HotspotTracker, FillsFreeSlotsAtTheEndOfTheFirstSlice) {
  Node node;
  // Five functions hold 95 %, fifty small ones the rest.
  Node::Functions functions;
  for (int i = 0; i < 5; ++i) functions["hot" + std::to_string(i)] = 190;
  for (int i = 0; i < 50; ++i) functions["cold" + std::to_string(i)] = 1;
  node.Slice(functions);
  EXPECT_EQ(node.Residents(), (std::set<std::string>{"hot0", "hot1", "hot2", "hot3", "hot4"}));
  EXPECT_EQ(node.Shown("hot0"), 190);
  EXPECT_EQ(node.Other(), 50) << "5 % of the container, below the 10 % that is promised";
}

TEST(HotspotTracker, AContainerMayAskForMoreOrFewerFunctions) {
  Node node;
  Node::Functions functions;
  for (int i = 0; i < 9; ++i) functions["hot" + std::to_string(i)] = 100 + i;
  node.AskFor(7);
  node.Slice(functions);
  EXPECT_EQ(node.Residents().size(), 7u);
  node.AskFor(2);
  node.Slice(functions);
  EXPECT_EQ(node.Residents(), (std::set<std::string>{"hot7", "hot8"})) << "the largest stay";
  node.AskFor(0);
  node.Slice(functions);
  EXPECT_EQ(node.Residents().size(), 5u) << "the node's own number";
  auto snapshot = node.tracker().Snapshot();
  EXPECT_EQ(snapshot->hotspots.size(), 6u);
  EXPECT_EQ(snapshot->dropped_hotspots, 0u) << "nothing was refused for lack of room";
}

TEST(HotspotTracker, GivesNoSlotToChanceFinds) {
  Node node;
  Node::Functions functions{{"main", 2000}, {"below_share", 15}};
  node.Slice(functions);
  EXPECT_EQ(node.Residents(), std::set<std::string>{"main"});
  // Two samples of one function are all a quiet container did: no slot yet.
  FunctionSelf twice{"quiet", "bin", 20 * kMs, 2};
  ContainerSlice slice{Node::Labels("q"), {&twice, 1}, 20 * kMs};
  node.tracker().AddSlice(node.now() + kSlice, {&slice, 1});
  EXPECT_TRUE(node.Residents("q").empty());
}

TEST(HotspotTracker, ResidentsStayTenMinutesWhateverHappens) {
  Node node;
  Node::Functions first;
  for (int i = 0; i < 5; ++i) first["old" + std::to_string(i)] = 100;
  node.Slice(first);
  std::set<std::string> residents = node.Residents();
  // A new set of hot functions every window: churn that must not reach the series.
  for (int window = 0; window < 9; ++window) {
    Node::Functions churn;
    for (int i = 0; i < 20; ++i) {
      churn["w" + std::to_string(window) + "f" + std::to_string(i)] = 200;
    }
    node.Window(churn);
    EXPECT_EQ(node.Residents(), residents) << "window " << window;
  }
}

TEST(HotspotTracker, ReplacesOnlyAfterTwoBetterWindows) {
  HotspotTracker::Options options;
  options.top_functions = 2;
  Node node(options);
  node.Slice({{"a", 500}, {"b", 400}});
  for (int window = 0; window < 12; ++window) node.Window({{"a", 500}, {"b", 400}});
  node.Slice({{"a", 500}, {"b", 400}});  // turns the window: everything below starts afresh
  // One better window, then a worse one: no change.
  node.Window({{"a", 500}, {"b", 100}, {"new", 300}});
  node.Window({{"a", 500}, {"b", 400}, {"new", 100}});
  EXPECT_EQ(node.Residents(), (std::set<std::string>{"a", "b"}));
  // Two better windows in a row: the weakest goes.
  node.Window({{"a", 500}, {"b", 100}, {"new", 300}});
  EXPECT_EQ(node.Residents(), (std::set<std::string>{"a", "b"}));
  node.Window({{"a", 500}, {"b", 100}, {"new", 300}});
  node.Slice({{"a", 500}, {"b", 100}, {"new", 300}});
  EXPECT_EQ(node.Residents(), (std::set<std::string>{"a", "new"}));
}

TEST(HotspotTracker, OtherTakesOverWhatAnEvictedFunctionHad) {
  HotspotTracker::Options options;
  options.top_functions = 1;
  Node node(options);
  node.Slice({{"old", 100}});
  int64_t old = 100;
  int64_t other = 0;
  while (node.Residents() == std::set<std::string>{"old"}) {
    ASSERT_EQ(node.Shown("old"), old);
    ASSERT_EQ(node.Other(), other);
    node.Slice({{"old", 100}, {"new", 200}});
    old += 100;
    other += 200;
  }
  ASSERT_EQ(node.Residents(), std::set<std::string>{"new"});
  EXPECT_EQ(node.Shown("new"), 200) << "its time of this slice, no jump from the past";
  EXPECT_EQ(node.Other(), other - 200 + old) << "all that `old` had, and its time of this slice";
  node.Slice({{"old", 100}, {"new", 200}});
  EXPECT_EQ(node.Other(), other - 200 + old + 100);
  EXPECT_EQ(node.Shown("new"), 400);
}

TEST(HotspotTracker, ContainerTimeWithoutFunctionIsOther) {
  Node node;
  FunctionSelf f{"f", "bin", 100 * kMs, 10};
  ContainerSlice slice{Node::Labels("c"), {&f, 1}, 130 * kMs};
  node.tracker().AddSlice(kSlice, {&slice, 1});
  EXPECT_EQ(node.Other(), 30);
  // A function with the name `other` cannot be distinguished from the rest.
  FunctionSelf other{"other", "", 50 * kMs, 5};
  ContainerSlice second{Node::Labels("c"), {&other, 1}, 50 * kMs};
  node.tracker().AddSlice(2 * kSlice, {&second, 1});
  EXPECT_EQ(node.Residents(), std::set<std::string>{"f"});
  EXPECT_EQ(node.Other(), 80);
}

TEST(HotspotTracker, DropsSeriesTwoMinutesAfterTheContainer) {
  Node node;
  node.Slice({{"a", {{"f", 100}}}, {"b", {{"f", 100}}}});
  node.tracker().ContainerGone(node.now(), Node::Labels("a"));
  node.Idle(110 * kSecond);
  node.Slice({{"b", {{"f", 100}}}});
  EXPECT_EQ(node.tracker().Snapshot()->totals.size(), 2u) << "115 s later";
  node.Slice({{"b", {{"f", 100}}}});
  EXPECT_EQ(node.tracker().Snapshot()->totals.size(), 1u) << "120 s later";
  EXPECT_EQ(node.tracker().Snapshot()->hotspots.size(), 2u);
  // One that comes back before that stays.
  node.tracker().ContainerGone(node.now(), Node::Labels("b"));
  node.Slice({{"b", {{"f", 100}}}});
  node.Idle(200 * kSecond);
  node.Slice(std::map<std::string, Node::Functions>{});
  EXPECT_EQ(node.tracker().Snapshot()->totals.size(), 1u);
}

Node::Functions FiveFunctions() {
  return {{"f0", 100}, {"f1", 90}, {"f2", 80}, {"f3", 70}, {"f4", 60}};
}

TEST(HotspotTracker, FallsBackToOneFunctionThenDrops) {
  HotspotTracker::Options options;
  options.max_series = 20;
  Node node(options);
  std::map<std::string, Node::Functions> containers;
  size_t last = 0;
  for (int i = 0; i < 15; ++i) {
    containers["c" + std::to_string(100 + i)] = FiveFunctions();
    node.Slice(containers);
    auto snapshot = node.tracker().Snapshot();
    EXPECT_LE(snapshot->hotspots.size(), 20u) << i;
    EXPECT_EQ(snapshot->totals.size(), containers.size());
    last = snapshot->hotspots.size();
  }
  EXPECT_EQ(last, 20u);
  // Ten containers show one function and `other`, the five that came last none.
  for (int i = 0; i < 15; ++i) {
    auto residents = node.Residents("c" + std::to_string(100 + i));
    EXPECT_EQ(residents, i < 10 ? std::set<std::string>{"f0"} : std::set<std::string>{}) << i;
  }
  EXPECT_GT(node.tracker().Snapshot()->dropped_hotspots, 0u);
  EXPECT_EQ(node.tracker().Snapshot()->dropped_totals, 0u);
}

TEST(HotspotTracker, AtTheCapNewContainersDoNotChurnTheOld) {
  HotspotTracker::Options options;
  options.max_series = 60;  // ten containers with five functions
  Node node(options);
  std::map<std::string, Node::Functions> containers;
  for (int i = 0; i < 10; ++i) containers["c" + std::to_string(i)] = FiveFunctions();
  node.Slice(containers);
  EXPECT_EQ(node.tracker().Snapshot()->hotspots.size(), 60u);
  EXPECT_EQ(node.tracker().Snapshot()->dropped_hotspots, 0u);
  containers["late"] = FiveFunctions();
  node.Slice(containers);
  EXPECT_EQ(node.Residents("late"), std::set<std::string>{"f0"});
  // One container gave up four of its functions; the room left over is not refilled.
  EXPECT_EQ(node.tracker().Snapshot()->hotspots.size(), 58u);
  uint64_t dropped = node.tracker().Snapshot()->dropped_hotspots;
  node.Slice(containers);
  EXPECT_EQ(node.tracker().Snapshot()->hotspots.size(), 58u);
  EXPECT_GT(node.tracker().Snapshot()->dropped_hotspots, dropped) << "truncation stays visible";
}

TEST(HotspotTracker, ZeroTurnsFunctionSeriesOffWithoutComplaint) {
  HotspotTracker::Options options;
  options.top_functions = 0;
  Node node(options);
  node.Slice(FiveFunctions());
  EXPECT_EQ(node.tracker().Snapshot()->totals.size(), 1u);
  EXPECT_TRUE(node.tracker().Snapshot()->hotspots.empty());
  EXPECT_EQ(node.tracker().Snapshot()->dropped_hotspots, 0u);
}

TEST(HotspotTracker, BoundsTheContainers) {
  HotspotTracker::Options options;
  options.max_containers = 3;
  Node node(options);
  node.Slice({{"a", {{"f", 9}}}, {"b", {{"f", 9}}}, {"c", {{"f", 9}}}, {"d", {{"f", 9}}}});
  EXPECT_EQ(node.tracker().Find(Node::Labels("d")), nullptr);
  EXPECT_EQ(node.tracker().Snapshot()->dropped_totals, 1u);
  // The one that ended makes room.
  node.tracker().ContainerGone(node.now(), Node::Labels("a"));
  node.Slice({{"b", {{"f", 9}}}, {"c", {{"f", 9}}}, {"d", {{"f", 9}}}});
  EXPECT_NE(node.tracker().Find(Node::Labels("d")), nullptr);
}

// Random containers and functions, with the truth beside them.
class RandomNode {
 public:
  RandomNode(unsigned seed, HotspotTracker& tracker) : random_(seed), tracker_(tracker) {}

  void Slice(unsigned number) {
    now_ += kSlice + Below(3) * kSecond;
    std::deque<std::string> names;
    std::deque<std::vector<FunctionSelf>> functions;
    std::vector<ContainerSlice> slices;
    for (int c = 0; c < 12; ++c) {
      if (Below(4) == 0) continue;
      std::string container = "c" + std::to_string(c);
      functions.emplace_back();
      int64_t total = Below(1'000'000);
      for (int64_t left = Below(80); left > 0; --left) {
        // Other functions every hundred slices, so that there are evictions.
        names.push_back("f" + std::to_string(Below(100) + number / 100 * 50));
        functions.back().push_back({names.back(), "b", Below(100'000'007), Below(10)});
        total += functions.back().back().value;
      }
      slices.push_back({{"n", "p", container}, functions.back(), total});
      truth_[container] += total;
    }
    tracker_.AddSlice(now_, slices);
  }
  const std::map<std::string, int64_t>& truth() const { return truth_; }

 private:
  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_()) % bound; }

  std::mt19937 random_;
  HotspotTracker& tracker_;
  std::map<std::string, int64_t> truth_;
  int64_t now_ = 0;
};

// Nanoseconds and names of the function series shown, by container.
struct ShownSeries {
  std::map<std::string, int64_t> sums;
  std::set<std::string> names;  // without those of `other`
};

ShownSeries SeriesOf(const HotspotSnapshot& snapshot) {
  ShownSeries shown;
  for (const CounterSeries& series : snapshot.hotspots) {
    const size_t begin = series.line->find("container=\"") + 11;
    shown.sums[series.line->substr(begin, series.line->find('"', begin) - begin)] += series.value;
    if (series.line->find("function=\"other\"") == std::string::npos)
      shown.names.insert(*series.line);
  }
  return shown;
}

// The series of /metrics add up at every scrape, also after functions lost their series.
TEST(HotspotTracker, SeriesShownAddUpToTheContainer) {
  size_t ended = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    HotspotTracker::Options options;
    options.max_series = 10 + seed * 3;
    HotspotTracker tracker(options);
    RandomNode node(seed, tracker);
    std::set<std::string> before;
    for (unsigned slice = 0; slice < 400; ++slice) {
      node.Slice(slice);
      const ShownSeries shown = SeriesOf(*tracker.Snapshot());
      ASSERT_FALSE(shown.sums.empty());
      for (const auto& [container, sum] : shown.sums) {
        ASSERT_EQ(sum, node.truth().at(container)) << container << " seed " << seed << " " << slice;
      }
      for (const auto& [container, total] : node.truth()) {
        ASSERT_EQ(tracker.Find({"n", "p", container})->total(), total);
      }
      for (const std::string& name : before) ended += !shown.names.contains(name);
      before = shown.names;
    }
  }
  EXPECT_GT(ended, 100u) << "the input must lead to evictions";
}

TEST(HotspotTracker, SeriesAreUniqueCappedAndOtherNeverFalls) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    HotspotTracker::Options options;
    options.max_series = 10 + seed * 3;
    HotspotTracker tracker(options);
    RandomNode node(seed, tracker);
    std::map<std::string, int64_t> others;
    for (unsigned slice = 0; slice < 400; ++slice) {
      node.Slice(slice);
      auto snapshot = tracker.Snapshot();
      ASSERT_LE(snapshot->hotspots.size(), options.max_series);
      std::set<std::string> lines;
      for (const CounterSeries& series : snapshot->hotspots) {
        ASSERT_TRUE(lines.insert(*series.line).second) << *series.line;
        if (series.line->find("function=\"other\"") == std::string::npos) continue;
        ASSERT_GE(series.value, others[*series.line]);
        others[*series.line] = series.value;
      }
    }
  }
}

TEST(HotspotTracker, TellsAPodsWorkloadOnce) {
  HotspotTracker tracker({});
  FunctionSelf main{"main", "app", 10 * kMs, 1};
  std::vector<ContainerSlice> slices;
  for (const ContainerLabels& labels :
       {ContainerLabels{"n", "p", "a"}, ContainerLabels{"n", "p", "b"},
        ContainerLabels{"m", "p", "a"}, ContainerLabels{"-", "-", "host"}}) {
    slices.push_back({labels, {&main, 1}, 10 * kMs});
    if (labels.pod == "-") continue;
    slices.back().workload_kind = "Deployment";
    slices.back().workload = "of " + labels.ns;
  }
  tracker.AddSlice(kSlice, slices);
  std::vector<std::string> told;
  const auto snapshot = tracker.Snapshot();
  for (const WorkloadInfo& one : snapshot->workloads)
    told.push_back(one.ns + "/" + one.pod + " " + one.kind + " " + one.name);
  EXPECT_EQ(told, (std::vector<std::string>{"m/p Deployment of m", "n/p Deployment of n"}));
  tracker.ContainerGone(kSlice, {"m", "p", "a"});
  tracker.AddSlice(kSlice + HotspotTracker::kGoneKeepNs, {});
  EXPECT_EQ(tracker.Snapshot()->workloads.size(), 1u);
}

}  // namespace
}  // namespace firetower::daemon
