// SPDX-License-Identifier: Apache-2.0
// Policies from lists and watches in the form of kube-apiserver 1.36, and beside those of files.
#include "daemon/policy/policy_objects.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "daemon/policy/policy_set.h"
#include "tests/support/fake_proc.h"
#include "tests/support/k8s/scripted_api_server.h"
#include "tests/unit/daemon/policy/policies.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kStartNs = 5000 * kNsPerSecond;
constexpr const char* kContinuousSpec = R"("mode":"General","general":{"schedule":"Continuous"},)"
                                        R"("targets":{"podSelector":{"matchLabels":{}}})";

struct Written {
  std::string name;
  int64_t generation = 1;
  std::string spec = kContinuousSpec;
  std::string namespace_name = "shop";
  std::string uid = "";
  std::string more = "";  // of the metadata
  std::string status = "{}";
};

std::string Json(const Written& object) {
  const std::string space = object.namespace_name.empty()
                                ? ""
                                : fmt::format(R"("namespace":"{}",)", object.namespace_name);
  return fmt::format(
      R"({{"metadata":{{"name":"{}",{}"uid":"{}","generation":{},"resourceVersion":"9"{}}},)"
      R"("spec":{{{}}},"status":{}}})",
      object.name, space, object.uid.empty() ? object.name : object.uid, object.generation,
      object.more, object.spec, object.status);
}

class QuietMetrics : public k8s::ReflectorMetrics {
  void OnRequest(std::string_view, std::string_view, int) override {}
  void OnRestart(std::string_view, std::string_view, bool) override {}
  void OnSkipped(std::string_view, std::string_view) override {}
};

class PolicyObjectsTest : public ::testing::Test {
 protected:
  // Feeds the list of a kind.
  void List(const std::vector<Written>& objects, bool cluster = false) {
    std::string items;
    for (const Written& object : objects) items += (items.empty() ? "" : ",") + Json(object);
    server_.Expect({.pieces = {R"({"metadata":{"resourceVersion":"9"},"items":[)" + items + "]}"}});
    k8s::Reflector reflector(server_, PolicyObjects::ResourceOf(cluster),
                             objects_.consumer(cluster), metrics_, clock_, 1,
                             {.watch_list = false});
    reflector.StepNs();
    ASSERT_EQ(reflector.state()->health, k8s::ReflectorHealth::kSynced);
  }
  // A list of nothing but `before`, then a watch with one event.
  void Watch(const std::vector<Written>& before, std::string_view type, const Written& object) {
    std::string items;
    for (const Written& one : before) items += (items.empty() ? "" : ",") + Json(one);
    server_.Expect({.pieces = {R"({"metadata":{"resourceVersion":"9"},"items":[)" + items + "]}"}});
    server_.Expect(
        {.pieces = {fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, Json(object))}});
    k8s::Reflector reflector(server_, PolicyObjects::ResourceOf(false), objects_.consumer(false),
                             metrics_, clock_, 1, {.watch_list = false});
    reflector.StepNs();
    objects_.Reload();
    reflector.StepNs();
  }
  bool Told() const {
    pollfd wait{objects_.fd(), POLLIN, 0};
    return ::poll(&wait, 1, 0) == 1;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const LoadedPolicy& loaded : objects_.policies())
      names.push_back(DisplayName(loaded.policy));
    return names;
  }

  FakeClock clock_{0, kStartNs};
  k8s::ScriptedApiServer server_{clock_};
  QuietMetrics metrics_;
  PolicyObjects objects_{clock_};
};

TEST_F(PolicyObjectsTest, AsksForPoliciesOnly) {
  EXPECT_EQ(PolicyObjects::ResourceOf(false).path,
            "/apis/firetower.dev/v1alpha1/profilingpolicies");
  EXPECT_EQ(PolicyObjects::ResourceOf(true).path,
            "/apis/firetower.dev/v1alpha1/clusterprofilingpolicies");
}

TEST_F(PolicyObjectsTest, HoldsWhatBothKindsSay) {
  EXPECT_FALSE(objects_.Reload()) << "nothing was said yet";
  List({{.name = "cart"}, {.name = "web", .namespace_name = "front"}});
  EXPECT_TRUE(Told());
  EXPECT_TRUE(objects_.Reload());
  EXPECT_FALSE(Told());
  List({{.name = "cart", .namespace_name = ""}}, true);
  EXPECT_TRUE(objects_.Reload());
  EXPECT_THAT(Names(), ElementsAre("ProfilingPolicy front/web", "ProfilingPolicy shop/cart",
                                   "ClusterProfilingPolicy cart"));
  EXPECT_THAT(objects_.errors(), IsEmpty());
}

TEST_F(PolicyObjectsTest, FollowsAnEditAndADeletion) {
  Written cart{.name = "cart"};
  Written edited{
      .name = "cart", .generation = 2, .spec = std::string(kContinuousSpec) + R"(,"priority":7)"};
  Watch({cart}, "MODIFIED", edited);
  EXPECT_TRUE(Told());
  EXPECT_TRUE(objects_.Reload());
  ASSERT_EQ(objects_.policies().size(), 1u);
  EXPECT_EQ(objects_.policies()[0].policy.spec.priority, 7);
  Watch({edited}, "DELETED", edited);
  EXPECT_TRUE(objects_.Reload());
  EXPECT_THAT(Names(), IsEmpty());
}

// The hub writes status; nothing must be reloaded for it.
TEST_F(PolicyObjectsTest, AWrittenStatusChangesNothing) {
  Written cart{.name = "cart"};
  Written written{.name = "cart", .status = R"({"nodes":{"ready":1}})"};
  Watch({cart}, "MODIFIED", written);
  EXPECT_FALSE(objects_.Reload());
  EXPECT_THAT(Names(), ElementsAre("ProfilingPolicy shop/cart"));
}

TEST_F(PolicyObjectsTest, AnotherObjectOfTheSameNameIsAnotherPolicy) {
  Watch({{.name = "cart", .uid = "first"}}, "ADDED", {.name = "cart", .uid = "second"});
  EXPECT_TRUE(objects_.Reload());
  ASSERT_EQ(objects_.policies().size(), 1u);
  EXPECT_EQ(objects_.policies()[0].policy.uid, "second");
}

TEST_F(PolicyObjectsTest, WhatIsRefusedIsSaidAndStopsNoOther) {
  List({{.name = "bad", .spec = R"("mode":"Sometimes","targets":{})"}, {.name = "good"}});
  EXPECT_TRUE(objects_.Reload());
  EXPECT_THAT(Names(), ElementsAre("ProfilingPolicy shop/good"));
  ASSERT_FALSE(objects_.errors().empty());
  EXPECT_THAT(objects_.errors()[0].ToString(),
              HasSubstr("ProfilingPolicy shop/bad: spec.mode: must be General, Trigger or Filter"));
  List({{.name = "good"}});
  EXPECT_TRUE(objects_.Reload());
  EXPECT_THAT(objects_.errors(), IsEmpty());
}

TEST_F(PolicyObjectsTest, SaysWhichFieldsItDoesNotKnow) {
  List({{.name = "newer", .spec = std::string(kContinuousSpec) + R"(,"moonPhase":"Full")"}});
  EXPECT_TRUE(objects_.Reload());
  EXPECT_THAT(Names(), ElementsAre("ProfilingPolicy shop/newer"));
  EXPECT_THAT(objects_.warnings(),
              ElementsAre("ProfilingPolicy shop/newer: this version does not know spec.moonPhase: "
                          "ignored"));
}

TEST_F(PolicyObjectsTest, OneThatIsBeingDeletedIsNotInForce) {
  List({{.name = "cart"}});
  EXPECT_TRUE(objects_.Reload());
  List({{.name = "cart", .more = R"(,"deletionTimestamp":"2026-11-21T19:44:00Z")"}});
  EXPECT_TRUE(objects_.Reload()) << "though its generation may be the same";
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(PolicyObjectsTest, ADeadlineCountsFromTheCreation) {
  List({{.name = "old", .more = R"(,"creationTimestamp":"1970-01-01T00:16:40Z")"},
        {.name = "unsaid"}});
  EXPECT_TRUE(objects_.Reload());
  ASSERT_EQ(objects_.policies().size(), 2u);
  EXPECT_EQ(objects_.policies()[0].since_ns, 1000 * kNsPerSecond);
  EXPECT_EQ(objects_.policies()[1].since_ns, kStartNs);
  clock_.Advance(60 * kNsPerSecond);
  List({{.name = "unsaid", .generation = 2}});
  EXPECT_TRUE(objects_.Reload());
  EXPECT_EQ(objects_.policies()[0].since_ns, kStartNs) << "known since then";
}

TEST_F(PolicyObjectsTest, KeepsToItsBoundAndSaysSo) {
  std::vector<Written> many;
  for (size_t i = 0; i < PolicyObjects::kMaxOfAKind + 3; ++i)
    many.push_back({.name = fmt::format("p{:04}", i)});
  List(many);
  EXPECT_TRUE(objects_.Reload());
  EXPECT_EQ(objects_.policies().size(), PolicyObjects::kMaxOfAKind);
  EXPECT_THAT(objects_.warnings(), ElementsAre(HasSubstr("3 policies of the API server")));
}

TEST_F(PolicyObjectsTest, KeepsWhatItHasWhenTheServerIsAway) {
  List({{.name = "cart"}});
  EXPECT_TRUE(objects_.Reload());
  k8s::Reflector reflector(server_, PolicyObjects::ResourceOf(false), objects_.consumer(false),
                           metrics_, clock_, 1);
  reflector.StepNs();  // connection refused
  EXPECT_FALSE(objects_.Reload());
  EXPECT_THAT(Names(), ElementsAre("ProfilingPolicy shop/cart"));
}

TEST_F(PolicyObjectsTest, StandBesideFilesAndAFileComesFirst) {
  ::firetower::testing::ScratchFolder folder;
  const std::string path = folder.path() + "/p.yaml";
  ::firetower::testing::WriteText(
      path, Document("cart", "mode: General, priority: 3, " + kContinuous + kAllPods) +
                Document("disk", "mode: General, " + kContinuous + kAllPods));
  Result<PolicyStore> files = PolicyStore::Open(path, clock_);
  ASSERT_TRUE(files);
  List({{.name = "cart", .namespace_name = "default"}, {.name = "cart"}});
  EXPECT_TRUE(objects_.Reload());
  const PolicySet set = MergePolicies(&*files, &objects_);
  std::vector<std::string> names;
  for (const LoadedPolicy& loaded : set.policies) names.push_back(DisplayName(loaded.policy));
  EXPECT_THAT(names, ElementsAre("ProfilingPolicy default/cart", "ProfilingPolicy default/disk",
                                 "ProfilingPolicy shop/cart"));
  EXPECT_EQ(set.policies[0].policy.spec.priority, 3);
  ASSERT_EQ(set.errors.size(), 1u);
  EXPECT_THAT(set.errors[0].ToString(), HasSubstr(path + ":1 has a policy with this name too"));
  EXPECT_EQ(set.refused, 1u);
  EXPECT_EQ(MergePolicies(nullptr, &objects_).policies.size(), 2u);
  EXPECT_EQ(MergePolicies(&*files, nullptr).policies.size(), 2u);
}

// firetower_policies{state="refused"} and doctor's check.
TEST_F(PolicyObjectsTest, CountsPoliciesThatAreRefusedNotComplaints) {
  const std::string two_wrong = R"("mode":"Never","targets":{"podSelector":{"matchLabels":{}},)"
                                R"("podPercent":"all"})";
  ::firetower::testing::ScratchFolder folder;
  const std::string path = folder.path() + "/p.yaml";
  ::firetower::testing::WriteText(
      path, Document("bad", "mode: Never, priority: high, " + kContinuous + kAllPods));
  Result<PolicyStore> files = PolicyStore::Open(path, clock_);
  ASSERT_TRUE(files);
  ASSERT_GE(files->errors().size(), 2u);
  EXPECT_EQ(files->refused(), 1u);
  List({{.name = "a", .spec = two_wrong}, {.name = "b"}, {.name = "c", .spec = two_wrong}});
  EXPECT_TRUE(objects_.Reload());
  ASSERT_GE(objects_.errors().size(), 4u);
  EXPECT_EQ(objects_.refused(), 2u);
  EXPECT_EQ(MergePolicies(&*files, &objects_).refused, 3u);
  EXPECT_EQ(MergePolicies(&*files, nullptr).refused, 1u);
  List({{.name = "b"}});
  EXPECT_TRUE(objects_.Reload());
  EXPECT_EQ(objects_.refused(), 0u);
  ::firetower::testing::WriteText(path,
                                  Document("bad", "mode: General, " + kContinuous + kAllPods));
  EXPECT_TRUE(files->Reload());
  EXPECT_EQ(MergePolicies(&*files, &objects_).refused, 0u);
}

}  // namespace
}  // namespace firetower::daemon
