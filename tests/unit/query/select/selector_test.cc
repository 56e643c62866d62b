// SPDX-License-Identifier: Apache-2.0
#include "query/select/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "profile/selector.h"
#include "query/select/kinds.h"

namespace firetower::query {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Labels = std::map<std::string, std::string, std::less<>>;

std::string Within(std::string_view text, const SelectorScope& scope = {}) {
  Result<std::string> selector = SelectorWithin(text, scope);
  EXPECT_TRUE(selector) << text << ": " << selector.error().message();
  return selector ? *selector : "";
}

bool Takes(std::string_view text, const Labels& labels) {
  Result<profile::Selector> selector = profile::Selector::Parse(Within(text));
  EXPECT_TRUE(selector) << text;
  return selector && selector->Matches([&](std::string_view name) {
    const auto found = labels.find(name);
    return found == labels.end() ? std::string() : found->second;
  });
}

// The names, short names and groups of `kubectl api-resources`.
TEST(NamedObject, IsReadInEverySpellingOfKubectl) {
  struct Case {
    const char* text;
    const char* kind;
    const char* name;
  };
  for (const Case& one :
       std::initializer_list<Case>{{"deploy/x", "Deployment", "x"},
                                   {"deployment/x", "Deployment", "x"},
                                   {"deployments/x", "Deployment", "x"},
                                   {"deployment.apps/x", "Deployment", "x"},
                                   {"deployments.apps/x", "Deployment", "x"},
                                   {"deploy.apps/x", "Deployment", "x"},
                                   {"deployments.v1.apps/x", "Deployment", "x"},
                                   {"Deployment/x", "Deployment", "x"},
                                   {"sts/db", "StatefulSet", "db"},
                                   {"statefulset.apps/db", "StatefulSet", "db"},
                                   {"ds/agent", "DaemonSet", "agent"},
                                   {"daemonsets/agent", "DaemonSet", "agent"},
                                   {"rs/x-7d98", "ReplicaSet", "x-7d98"},
                                   {"job/report", "Job", "report"},
                                   {"jobs.batch/report", "Job", "report"},
                                   {"cj/report", "CronJob", "report"},
                                   {"cronjob.batch/report", "CronJob", "report"},
                                   {"cronjobs/report", "CronJob", "report"},
                                   {"rc/old", "ReplicationController", "old"},
                                   {"po/web-0", "Pod", "web-0"},
                                   {"pod/web-0.a", "Pod", "web-0.a"},
                                   {"pods/web-0", "Pod", "web-0"},
                                   {"no/worker-1.example", "Node", "worker-1.example"},
                                   {"node/worker-1", "Node", "worker-1"},
                                   {"ns/shop", "Namespace", "shop"},
                                   {"namespaces/shop", "Namespace", "shop"}}) {
    EXPECT_TRUE(IsNamedObject(one.text)) << one.text;
    const Result<NamedObject> object = ParseNamedObject(one.text);
    ASSERT_TRUE(object) << one.text << ": " << object.error().message();
    EXPECT_EQ(object->kind->kind, one.kind) << one.text;
    EXPECT_EQ(object->name, one.name) << one.text;
  }
  for (const char* text :
       {"", "cpu", "{}", "{pod=\"a/b\"}", "cpu{container=~\"/x\"}", "app=a/b", "event:a"})
    EXPECT_FALSE(IsNamedObject(text)) << text;
}

TEST(SelectorWithin, MatchesWhatProfilesKnow) {
  for (const char* text : {"deploy/checkout", "sts/checkout", "ds/checkout", "cj/checkout"})
    EXPECT_EQ(Within(text), R"({workload="checkout"})") << text;
  EXPECT_EQ(Within("pod/web-0"), R"({pod="web-0"})");
  EXPECT_EQ(Within("node/worker-1"), R"({node="worker-1"})");
  EXPECT_EQ(Within("ns/shop"), R"({namespace="shop"})");
}

// Pods of a ReplicaSet, a Job, one that counts its pods, and a CronJob's Job, as a cluster names
// them; their workload is the owner at the top.
TEST(SelectorWithin, KnowsWhatAControllerBetweenCallsItsPods) {
  const Labels checkout = {{"pod", "checkout-7d98f5c6b4-x2x8z"}, {"workload", "checkout"}};
  EXPECT_TRUE(Takes("deploy/checkout", checkout));
  EXPECT_TRUE(Takes("rs/checkout-7d98f5c6b4", checkout));
  EXPECT_FALSE(Takes("rs/checkout", checkout));
  EXPECT_FALSE(Takes("rs/checkout-7d98f5c6b5", checkout));
  const Labels hourly = {{"pod", "report-29384760-qk7mz"}, {"workload", "report"}};
  EXPECT_TRUE(Takes("cronjob/report", hourly));
  EXPECT_TRUE(Takes("job/report-29384760", hourly));
  EXPECT_FALSE(Takes("job/report-29384820", hourly));
  const Labels indexed = {{"pod", "train-11-b4k2p"}, {"workload", "train"}};
  EXPECT_TRUE(Takes("job/train", indexed));
  EXPECT_FALSE(Takes("job/trai", indexed));
  // A dot is a dot.
  EXPECT_FALSE(Takes("rs/a.b", {{"pod", "axb-b4k2p"}}));
  EXPECT_TRUE(Takes("rs/a.b", {{"pod", "a.b-b4k2p"}}));
  EXPECT_FALSE(Takes("job/a.b-29384760", {{"pod", "a.b-29384760-b4k2p"}, {"workload", "axb"}}));
  EXPECT_TRUE(Takes("job/a.b-29384760", {{"pod", "a.b-29384760-b4k2p"}, {"workload", "a.b"}}));
  // A pod's name has 58 characters of the given name and five more.
  const std::string long_name(60, 'r');
  EXPECT_TRUE(Takes("rs/" + long_name, {{"pod", std::string(58, 'r') + "b4k2p"}}));
}

TEST(SelectorWithin, AJobIsNoOtherWhosePodsAreCalledAlike) {
  const Labels own = {{"pod", "migrate-x8k2p"}, {"workload", "migrate"}};
  const Labels second = {{"pod", "migrate-2-x8k2p"}, {"workload", "migrate-2"}};
  EXPECT_TRUE(Takes("job/migrate", own));
  EXPECT_FALSE(Takes("job/migrate", second));
  EXPECT_TRUE(Takes("job/migrate-2", second));
  EXPECT_FALSE(Takes("job/migrate-2", own));
  // A Job that is called as a CronJob is, which its own workload does not tell apart.
  const Labels by_hand = {{"pod", "report-qk7mz"}, {"workload", "report"}};
  const Labels hourly = {{"pod", "report-29384760-qk7mz"}, {"workload", "report"}};
  EXPECT_TRUE(Takes("job/report", by_hand));
  EXPECT_FALSE(Takes("job/report", hourly));
  EXPECT_FALSE(Takes("job/report-29384760", by_hand));
  // A date is not the time of a CronJob, so the Job itself is the workload.
  EXPECT_TRUE(
      Takes("job/dump-20260701", {{"pod", "dump-20260701-qk7mz"}, {"workload", "dump-20260701"}}));
  EXPECT_EQ(Within("job/migrate"),
            R"({workload="migrate",pod=~"migrate-([0-9]{1,7}-)?[a-z0-9]{5}"})");
  EXPECT_EQ(Within("job/v-2"), R"({workload="v-2",pod=~"v-2-([0-9]{1,7}-)?[a-z0-9]{5}"})");
}

TEST(SelectorWithin, IsOfTheNamespaceThatIsAskedAbout) {
  const SelectorScope context{.namespace_name = "shop"};
  const SelectorScope told{.namespace_name = "shop", .is_told = true};
  EXPECT_EQ(Within("", context), R"({namespace="shop"})");
  EXPECT_EQ(Within("deploy/web", context), R"({workload="web",namespace="shop"})");
  EXPECT_EQ(Within("deploy/web", told), R"({workload="web",namespace="shop"})");
  // Objects without a namespace are asked about as a whole, as by kubectl, unless one is given.
  EXPECT_EQ(Within("node/worker-1", context), R"({node="worker-1"})");
  EXPECT_EQ(Within("node/worker-1", told), R"({node="worker-1",namespace="shop"})");
  EXPECT_EQ(Within("ns/infra", context), R"({namespace="infra"})");
  EXPECT_EQ(Within(R"({namespace=~"a|b"})", context), R"({namespace=~"a|b"})");
  EXPECT_EQ(Within(R"({ pod="a" })", {}), R"({ pod="a" })");
}

TEST(SelectorWithin, TakesOneContainer) {
  EXPECT_EQ(Within("", {.container = "web"}), R"({container="web"})");
  EXPECT_EQ(Within("deploy/checkout", {.namespace_name = "shop", .container = "web"}),
            R"({workload="checkout",namespace="shop",container="web"})");
  EXPECT_EQ(Within("offcpu", {.container = "web"}), R"({__name__="offcpu",container="web"})");
}

TEST(SelectorWithin, SaysWhatIsWrongAndWhatToWrite) {
  const auto why = [](const char* text) {
    Result<std::string> selector = SelectorWithin(text, {});
    EXPECT_FALSE(selector) << text;
    return selector ? "" : selector.error().message();
  };
  for (const auto& [text, says] : std::initializer_list<std::pair<const char*, const char*>>{
           {"deploymnt/x", "did you mean 'deployment'"},
           {"rollout/x", "'rollout' is not a supported kind of object"},
           {"/x", "'' is not a supported kind"},
           {".apps/x", "is not a supported kind"},
           {"svc/x", "profiles do not have the Services"},
           {"deploy/", "'' is not a valid name of an object"},
           {"deploy/Web", "'Web' is not a valid name of an object"},
           {"deploy/a/b", "'a/b' is not a valid name of an object"},
           {"deployment.batch/x", "a Deployment is of the API group 'apps', not 'batch'"},
           {"pod.apps/x", "a Pod is of the API group '', not 'apps'"},
           {"app=checkout", "'record' accepts them"}}) {
    EXPECT_THAT(why(text), HasSubstr(says)) << text;
    EXPECT_THAT(why(text), HasSubstr(std::string("'") + text + "': ")) << text;
    EXPECT_THAT(why(text), HasSubstr("deployment/checkout")) << text;
  }
  // Labels of profiles need braces here.
  for (const auto& [text, write] : std::initializer_list<std::pair<const char*, const char*>>{
           {"pod=web-0", R"(write '{pod="NAME"}')"},
           {"workload==web", R"(write '{workload="NAME"}')"},
           {"namespace!=shop", R"(write '{namespace="NAME"}')"},
           {"node=~worker.*", R"(write '{node="NAME"}')"},
           {"container=web,pod=web-0", R"(write '{container="NAME"}')"}}) {
    EXPECT_THAT(why(text), HasSubstr(write)) << text;
    EXPECT_THAT(why(text), Not(HasSubstr("'record'"))) << text;
  }
  // Nothing is near enough to be meant.
  EXPECT_THAT(why("rollout/x"), Not(HasSubstr("did you mean")));
  // Invalid matchers are left to the server, which explains the mistake.
  EXPECT_EQ(Within("{pod=", {.namespace_name = "shop"}), "{pod=");
}

}  // namespace
}  // namespace firetower::query
