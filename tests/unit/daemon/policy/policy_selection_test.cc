// SPDX-License-Identifier: Apache-2.0
// Which containers policies take, and with what.
#include "daemon/policy/policy_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/policy/policies.h"

namespace firetower::daemon {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint32_t kCeilingHz = 97;

Decision Decide(const std::string& documents, const Container& container) {
  return PolicySchedule(Loaded(documents), kCeilingHz).At(0)->Decide(container);
}

std::vector<std::string> Warnings(const std::string& documents) {
  return PolicySchedule(Loaded(documents), kCeilingHz).Warnings();
}

std::string General(const std::string& name, const std::string& rest,
                    const std::string& kind = "ProfilingPolicy") {
  return Document(name, "mode: General, " + kContinuous + rest, kind);
}

const Container kInPod = PodContainer("89abc", 'a');
const Container kDocker = ContainerAt("/docker/" + std::string(64, 'b'));
const Container kUnit = ContainerAt("/system.slice/cron.service");
const Container kHost = ContainerAt("/");

TEST(PolicySelection, TakesEveryContainerAndNoHostForAnEmptySelector) {
  std::string policy = General("all", kAllPods);
  EXPECT_TRUE(Decide(policy, kInPod).sampled);
  EXPECT_TRUE(Decide(policy, kDocker).sampled);
  EXPECT_FALSE(Decide(policy, kUnit).sampled);
  EXPECT_FALSE(Decide(policy, kHost).sampled);
  EXPECT_THAT(Warnings(policy), IsEmpty());
}

TEST(PolicySelection, MatchesNothingByLabelsAndSaysSo) {
  std::string policy = General("web", "targets: {podSelector: {matchLabels: {app: web}}}");
  EXPECT_FALSE(Decide(policy, kInPod).sampled);
  EXPECT_FALSE(Decide(policy, kHost).sampled);
  EXPECT_THAT(Warnings(policy), ElementsAre(HasSubstr("podSelector needs labels")));
  EXPECT_THAT(Warnings(policy)[0], HasSubstr("ProfilingPolicy default/web (p.yaml:1)"));
}

TEST(PolicySelection, MatchesNothingByNamespaceOrNodeLabelsAndSaysSo) {
  for (const char* more :
       {"targets: {podSelector: {matchLabels: {}}, namespaceSelector: {matchLabels: {a: b}}}",
        "nodeSelector: {matchLabels: {a: b}}, targets: {podSelector: {matchLabels: {}}}"}) {
    std::string policy = General("some", more, "ClusterProfilingPolicy");
    EXPECT_FALSE(Decide(policy, kInPod).sampled) << more;
    EXPECT_THAT(Warnings(policy), Contains(HasSubstr("matches nothing"))) << more;
  }
}

TEST(PolicySelection, TakesTheHostForHostProcesses) {
  std::string policy =
      General("host", "targets: {hostProcesses: Include}", "ClusterProfilingPolicy");
  EXPECT_TRUE(Decide(policy, kUnit).sampled);
  EXPECT_TRUE(Decide(policy, kHost).sampled);
  EXPECT_FALSE(Decide(policy, kInPod).sampled);
  EXPECT_FALSE(Decide(policy, kDocker).sampled);
}

TEST(PolicySelection, ChoosesContainersByTheirLabel) {
  const std::string name = kInPod.labels.container;
  const std::string base = "targets: {podSelector: {matchLabels: {}}, containers: ";
  EXPECT_TRUE(Decide(General("a", base + "{include: [\"" + name + "\"]}}"), kInPod).sampled);
  EXPECT_FALSE(Decide(General("a", base + "{include: [\"" + name + "\"]}}"), kDocker).sampled);
  EXPECT_FALSE(Decide(General("a", base + "{exclude: [\"" + name + "\"]}}"), kInPod).sampled);
  EXPECT_TRUE(Decide(General("a", base + "{exclude: [\"" + name + "\"]}}"), kDocker).sampled);
}

TEST(PolicySelection, TakesAStableShareOfThePods) {
  auto share = [](int percent) {
    auto selection = PolicySchedule(Loaded(General("part",
                                                   "targets: {podSelector: {matchLabels: {}}, "
                                                   "podPercent: " +
                                                       std::to_string(percent) + "}")),
                                    kCeilingHz)
                         .At(0);
    std::vector<bool> taken;
    for (int i = 0; i < 1000; ++i) {
      std::string uid_end = std::to_string(10000 + i);
      // Two containers of one pod go together.
      bool first = selection->Decide(PodContainer(uid_end, 'a')).sampled;
      EXPECT_EQ(selection->Decide(PodContainer(uid_end, 'b')).sampled, first);
      taken.push_back(first);
    }
    return taken;
  };
  std::vector<bool> ten = share(10), again = share(10), sixty = share(60), all = share(100);
  EXPECT_EQ(ten, again);
  auto count = [](const std::vector<bool>& taken) {
    return static_cast<int>(std::count(taken.begin(), taken.end(), true));
  };
  EXPECT_NEAR(count(ten), 100, 40);
  EXPECT_NEAR(count(sixty), 600, 70);
  EXPECT_EQ(count(all), 1000);
  for (size_t i = 0; i < ten.size(); ++i) {
    EXPECT_LE(ten[i], sixty[i]) << "a larger share holds the smaller one";
  }
}

TEST(PolicySelection, JoinsPoliciesThatOverlap) {
  std::string both =
      General("slow", kAllPods +
                          ", profiles: [{type: CPU, frequencyHertz: 19}], export: {metrics: {mode: "
                          "Disabled}, objectStore: {retentionClass: Long}}") +
      General("fast", kAllPods +
                          ", profiles: [{type: CPU, frequencyHertz: 49}], export: {objectStore: "
                          "{mode: Disabled}}");
  Decision decision = Decide(both, kInPod);
  EXPECT_EQ(decision.frequency_hz, 49u);
  EXPECT_TRUE(decision.to_metrics);
  EXPECT_TRUE(decision.to_store);
  EXPECT_EQ(decision.retention, k8s::RetentionClass::kLong);
  EXPECT_THAT(decision.policies, ::testing::UnorderedElementsAre("default/slow", "default/fast"));
}

TEST(PolicySelection, ShowsTheMostFunctionsThatAreAskedFor) {
  std::string few = General("few", kAllPods + ", export: {metrics: {topFunctions: 3}}");
  std::string many = General("many", kAllPods + ", export: {metrics: {topFunctions: 12}}");
  std::string none =
      General("none", kAllPods + ", export: {metrics: {mode: Disabled, topFunctions: 20}}");
  EXPECT_EQ(Decide(few, kInPod).top_functions, 3u);
  EXPECT_EQ(Decide(few + many, kInPod).top_functions, 12u);
  EXPECT_EQ(Decide(few + none, kInPod).top_functions, 3u);
  EXPECT_EQ(Decide(General("default", kAllPods), kInPod).top_functions, 5u) << "the CRD's default";
}

TEST(PolicySelection, TakesTheLongestRetentionOfThoseThatStore) {
  auto retention = [](const char* first, const char* second) {
    std::string text;
    for (const char* name : {first, second}) {
      text += General(std::string("p") + std::to_string(text.size()),
                      kAllPods + ", export: {objectStore: {" + name + "}}");
    }
    return Decide(text, kInPod).retention;
  };
  EXPECT_EQ(retention("retentionClass: Short", "retentionClass: Short"),
            k8s::RetentionClass::kShort);
  EXPECT_EQ(retention("retentionClass: Short", "retentionClass: Standard"),
            k8s::RetentionClass::kStandard);
  EXPECT_EQ(retention("retentionClass: Long, mode: Disabled", "retentionClass: Short"),
            k8s::RetentionClass::kShort);
}

TEST(PolicySelection, ExportsOnlyWhatWasAskedFor) {
  Decision metrics =
      Decide(General("a", kAllPods + ", export: {objectStore: {mode: Disabled}}"), kInPod);
  EXPECT_TRUE(metrics.to_metrics);
  EXPECT_FALSE(metrics.to_store);
  Decision store = Decide(General("a", kAllPods + ", export: {metrics: {mode: Disabled}}"), kInPod);
  EXPECT_FALSE(store.to_metrics);
  EXPECT_TRUE(store.to_store);
}

TEST(PolicySelection, CapsEveryRateAtTheCeiling) {
  std::string policy = General("fast", kAllPods + ", profiles: [{type: CPU, frequencyHertz: 99}]");
  auto selection = PolicySchedule(Loaded(policy), 25).At(0);
  EXPECT_EQ(selection->Decide(kInPod).frequency_hz, 25u);
  EXPECT_EQ(selection->frequency_hz(), 25u);
}

TEST(PolicySelection, RunsAtTheHighestRateOfAll) {
  std::string policies =
      General("a", kAllPods + ", profiles: [{type: CPU, frequencyHertz: 19}]") +
      General("b", "targets: {hostProcesses: Include}, profiles: [{type: CPU, frequencyHertz: 61}]",
              "ClusterProfilingPolicy");
  auto selection = PolicySchedule(Loaded(policies), kCeilingHz).At(0);
  EXPECT_EQ(selection->frequency_hz(), 61u);
  EXPECT_EQ(selection->Decide(kInPod).frequency_hz, 19u);
  EXPECT_EQ(selection->Decide(kUnit).frequency_hz, 61u);
  EXPECT_FALSE(selection->everything());
  EXPECT_EQ(PolicySchedule({}, kCeilingHz).At(0)->frequency_hz(), 1u);
}

TEST(PolicySelection, LetsPriorityThenKindDecideOnStackParts) {
  auto parts = [](const std::string& text) { return Decide(text, kInPod).stacks; };
  EXPECT_EQ(parts(General("a", kAllPods + ", stacks: User, priority: 1") +
                  General("b", kAllPods + ", stacks: Kernel, priority: 2")),
            StackParts::kKernel);
  EXPECT_EQ(parts(General("a", kAllPods + ", stacks: Kernel", "ClusterProfilingPolicy") +
                  General("z", kAllPods + ", stacks: User")),
            StackParts::kUser);
  EXPECT_EQ(parts(General("z", kAllPods + ", stacks: Kernel") +
                  General("a", kAllPods + ", stacks: User")),
            StackParts::kUser);
}

TEST(SelectEverything, SamplesTheHostToo) {
  auto selection = SelectEverything(97);
  EXPECT_TRUE(selection->everything());
  for (const Container* container : {&kInPod, &kDocker, &kUnit, &kHost}) {
    Decision decision = selection->Decide(*container);
    EXPECT_TRUE(decision.sampled && decision.to_metrics && decision.to_store);
    EXPECT_EQ(decision.frequency_hz, 97u);
    EXPECT_EQ(decision.retention, k8s::RetentionClass::kStandard);
  }
}

}  // namespace
}  // namespace firetower::daemon
