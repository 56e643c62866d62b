// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/hotspots/named_selves.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/export/pods.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NamedSelvesTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const Container> Web(int number) {
    return ContainerAt(fmt::format("/kubepods/burstable/pod00000000-0000-0000-0000-{:012d}/{:064d}",
                                   number, number));
  }
  static k8s::Pod PodOf(int number) {
    return PodCalled(fmt::format("web-{}", number),
                     fmt::format("00000000-0000-0000-0000-{:012d}", number),
                     {{"web", fmt::format("{:064d}", number)}});
  }

  // Five seconds in which the container ran these functions.
  void Run(const std::shared_ptr<const Container>& container,
           const std::vector<FunctionSelf>& functions, bool gone = false,
           const Decision& decision = {}) {
    functions_ = functions;
    Slice slice;
    slice.containers.push_back({container, decision});
    if (gone) slice.gone.push_back(container);
    ContainerSlice self;
    self.functions = functions_;  // valid until the next slice, as SliceSelf's are
    for (const FunctionSelf& one : functions) self.total += one.value;
    Take(slice, {&self, 1});
  }
  void Pass() { Take(Slice(), {}); }
  void Take(const Slice& slice, std::span<const ContainerSlice> selves) {
    clock_.Advance(5 * kNsPerSecond);
    names_.Refresh();
    selves_.Take(slice, selves);
  }

  // "namespace/pod/container total: function=ns×samples …"
  std::vector<std::string> Shown() const {
    std::vector<std::string> out;
    for (const ContainerSlice& one : selves_.containers()) {
      std::string text = fmt::format("{}/{}/{} {}:", one.labels.ns, one.labels.pod,
                                     one.labels.container, one.total);
      for (const FunctionSelf& function : one.functions)
        text += fmt::format(" {}={}x{}", function.function, function.value, function.samples);
      out.push_back(text);
    }
    return out;
  }

  std::vector<FunctionSelf> functions_;
  FakePods pods_;
  FakeClock clock_{1000 * kNsPerSecond, 0};
  ContainerNames names_{pods_.Source(), clock_};
  NamedSelves selves_{names_};
};

TEST_F(NamedSelvesTest, ShowsWhatHasAName) {
  pods_.Add(PodOf(1));
  Run(Web(1), {{"main", "app", 10, 1}, {"step", "app", 20, 2}});
  EXPECT_THAT(Shown(), ElementsAre("shop/web-1/web 30: main=10x1 step=20x2"));
  EXPECT_EQ(selves_.containers()[0].workload_kind, "Deployment");
  EXPECT_EQ(selves_.containers()[0].workload, "checkout");
}

TEST_F(NamedSelvesTest, TellsEverythingSinceTheFirstSampleWhenTheNameComes) {
  const auto web = Web(1);
  Run(web, {{"main", "app", 10, 1}});
  Run(web, {{"main", "app", 30, 3}, {"step", "app", 20, 2}});
  EXPECT_THAT(Shown(), IsEmpty());
  pods_.Add(PodOf(1));
  Run(web, {{"main", "app", 5, 1}});
  EXPECT_THAT(Shown(), ElementsAre("shop/web-1/web 65: main=45x5 step=20x2"));
  Run(web, {{"main", "app", 1, 1}});
  EXPECT_THAT(Shown(), ElementsAre("shop/web-1/web 1: main=1x1")) << "and nothing twice";
}

TEST_F(NamedSelvesTest, TheNameMayComeWhenTheContainerIsLongGone) {
  const auto web = Web(1);
  Run(web, {{"main", "app", 300, 30}}, /*gone=*/true);
  EXPECT_THAT(selves_.gone(), IsEmpty());
  Pass();
  pods_.Add(PodOf(1));
  Pass();
  EXPECT_THAT(Shown(), ElementsAre("shop/web-1/web 300: main=300x30"));
  EXPECT_THAT(selves_.gone(), ElementsAre(ContainerLabels{"shop", "web-1", "web"}));
  Pass();
  EXPECT_THAT(Shown(), IsEmpty());
}

TEST_F(NamedSelvesTest, ANameThatDoesNotComeIsThePaths) {
  const auto web = Web(1);
  for (int i = 0; i < 9; ++i) Run(web, {{"main", "app", 10, 1}});
  EXPECT_THAT(Shown(), IsEmpty());
  Run(web, {{"main", "app", 10, 1}});
  EXPECT_THAT(Shown(),
              ElementsAre("-/00000000-0000-0000-0000-000000000001/000000000000 100: main=100x10"));
  pods_.Add(PodOf(1));
  Run(web, {{"main", "app", 7, 1}});
  EXPECT_THAT(Shown(), ElementsAre("shop/web-1/web 7: main=7x1"));
  EXPECT_THAT(selves_.gone(), ElementsAre(ContainerLabels{
                                  "-", "00000000-0000-0000-0000-000000000001", "000000000000"}))
      << "the other series ends";
}

TEST_F(NamedSelvesTest, LeavesOutWhatHasOptedOut) {
  k8s::Pod pod = PodOf(1);
  pod.opted_out = true;
  const auto early = Web(1);
  Run(early, {{"main", "app", 10, 1}});
  pods_.Add(pod);
  Run(early, {{"main", "app", 10, 1}}, /*gone=*/true);
  EXPECT_THAT(Shown(), IsEmpty());
  EXPECT_THAT(selves_.gone(), IsEmpty());
}

TEST_F(NamedSelvesTest, LeavesOutWhatAPolicyDoesNotWantOnMetrics) {
  pods_.Add(PodOf(1));
  Decision decision;
  decision.to_metrics = false;
  Run(Web(1), {{"main", "app", 10, 1}}, false, decision);
  EXPECT_THAT(Shown(), IsEmpty());
}

TEST_F(NamedSelvesTest, HoldsNoMoreThanItsBounds) {
  std::vector<std::shared_ptr<const Container>> all;
  Slice slice;
  std::vector<ContainerSlice> selves(NamedSelves::kMaxHeld + 1);
  const FunctionSelf function{"main", "app", 10, 1};
  for (size_t i = 0; i <= NamedSelves::kMaxHeld; ++i) {
    slice.containers.push_back({Web(static_cast<int>(i)), Decision()});
    selves[i].functions = {&function, 1};
    selves[i].total = 10;
  }
  Take(slice, selves);
  EXPECT_EQ(Shown().size(), 1u) << "one found no room, and goes out as it is";
  std::vector<std::string> names;
  std::vector<FunctionSelf> many;
  for (size_t i = 0; i < 2 * NamedSelves::kMaxHeldFunctions; ++i)
    names.push_back(fmt::format("f{}", i));
  for (const std::string& name : names) many.push_back({name, "app", 1, 1});
  Slice more;
  more.containers.push_back(slice.containers[0]);
  ContainerSlice self;
  self.functions = many;
  self.total = static_cast<int64_t>(many.size());
  Take(more, {&self, 1});
  pods_.Add(PodOf(0));
  Pass();
  ASSERT_EQ(selves_.containers().size(), 1u);
  EXPECT_EQ(selves_.containers()[0].functions.size(), NamedSelves::kMaxHeldFunctions);
  EXPECT_EQ(selves_.containers()[0].total, 10 + self.total);
}

}  // namespace
}  // namespace firetower::daemon
