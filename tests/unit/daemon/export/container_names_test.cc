// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/container_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/export/pods.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNull;
using ::testing::NotNull;

constexpr const char* kUid = "48d24770-3d7e-40e7-a11a-ed1f7d8d2b22";
constexpr const char* kId = "0bf1a356c13995d18a9b5658bc5ebb30d09dd920912630dd01b5cd32fef8fff7";
const k8s::PathLabels kByPath = {"-", kUid, "0bf1a356c139"};
const k8s::PathLabels kByPod = {"shop", "checkout-1", "cart"};

// Returns the decision of some policies, or of none: sampled all the same, while that is open.
Decision By(std::vector<std::string> policies, bool open) {
  Decision decision;
  decision.sampled = true;
  decision.open = open;
  decision.policies = std::move(policies);
  return decision;
}
const Decision kOpen = By({}, true);
const Decision kTaken = By({"p"}, false);
const Decision kUntaken;

class ContainerNamesTest : public ::testing::Test {
 protected:
  const NamedContainer& Look() {
    names_.Refresh();
    return names_.NameOf(cart_);
  }
  void After(int64_t ns) { clock_.Advance(ns); }

  FakePods pods_;
  FakeClock clock_{1000 * kNsPerSecond, 0};
  ContainerNames names_{pods_.Source(), clock_};
  std::shared_ptr<const Container> cart_ =
      ContainerAt(std::string("/kubepods/besteffort/pod") + kUid + "/" + kId);
};

TEST_F(ContainerNamesTest, AKnownPodNamesItsContainerAtOnce) {
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", kId}}));
  const NamedContainer& named = Look();
  EXPECT_EQ(named.state, NameState::kKnown);
  EXPECT_FALSE(named.late);
  ASSERT_THAT(named.name, NotNull());
  EXPECT_EQ(named.name->labels, kByPod);
  EXPECT_EQ(named.name->pod_uid, kUid);
  EXPECT_EQ(named.name->workload, (k8s::Workload{"Deployment", "checkout"}));
}

TEST_F(ContainerNamesTest, APodThatComesLateNamesItFromTheStart) {
  EXPECT_EQ(Look().state, NameState::kAwaited) << "not even a first list";
  EXPECT_THAT(Look().name, IsNull());
  pods_.Publish();
  After(20 * kNsPerSecond);
  EXPECT_EQ(Look().state, NameState::kAwaited);
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", kId}}));
  EXPECT_EQ(Look().state, NameState::kKnown);
  EXPECT_TRUE(Look().late);
  EXPECT_EQ(Look().name->labels, kByPod);
  EXPECT_THAT(names_.TakeRetired(), IsEmpty());
}

// kubelet writes a container's id some time after its pod is there.
TEST_F(ContainerNamesTest, AnIdThatComesLateNamesItToo) {
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", ""}}));
  EXPECT_EQ(Look().state, NameState::kAwaited);
  After(10 * kNsPerSecond);
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", kId}}));
  EXPECT_EQ(Look().name->labels, kByPod);
}

// Sampled while it was open whether any policy takes it.
TEST_F(ContainerNamesTest, WhatNoPolicyTakesAfterAllIsLeftOut) {
  ContainerNames names(pods_.Source(), clock_, false, [](const Container&) { return kUntaken; });
  pods_.Publish();
  names.Refresh();
  names.Note(cart_, kOpen);
  EXPECT_EQ(names.NameOf(cart_).state, NameState::kAwaited);
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", kId}}));
  names.Refresh();
  ASSERT_THAT(names.NameOf(cart_).name, NotNull());
  EXPECT_TRUE(names.NameOf(cart_).name->LeftOut());
  names.Note(cart_, kOpen);
  EXPECT_TRUE(names.NameOf(cart_).name->LeftOut());
  names.Note(cart_, kTaken);
  EXPECT_FALSE(names.NameOf(cart_).name->LeftOut()) << "a policy that came later takes it";
  EXPECT_EQ(names.NameOf(cart_).name->labels, kByPod);
}

TEST_F(ContainerNamesTest, WhatAPolicyTakesIsKeptFromTheFirstSample) {
  ContainerNames names(pods_.Source(), clock_, false, [](const Container&) { return kTaken; });
  names.Refresh();
  names.Note(cart_, kOpen);
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", kId}}));
  names.Refresh();
  ASSERT_THAT(names.NameOf(cart_).name, NotNull());
  EXPECT_FALSE(names.NameOf(cart_).name->LeftOut());
}

TEST_F(ContainerNamesTest, APolicyIsNotAskedWhereItHasDecided) {
  ContainerNames names(pods_.Source(), clock_, false, [](const Container&) { return kUntaken; });
  names.Refresh();
  names.Note(cart_, kTaken);
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", kId}}));
  names.Refresh();
  ASSERT_THAT(names.NameOf(cart_).name, NotNull());
  EXPECT_FALSE(names.NameOf(cart_).name->LeftOut());
}

// The labels of a namespace may come after its pods.
TEST_F(ContainerNamesTest, WaitsWhileThePoliciesHaveNoAnswer) {
  Decision answer = kOpen;
  int asked = 0;
  ContainerNames names(pods_.Source(), clock_, false, [&](const Container&) {
    ++asked;
    return answer;
  });
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", kId}}));
  names.Refresh();
  names.Note(cart_, kOpen);
  for (int row = 0; row < 5; ++row) EXPECT_EQ(names.NameOf(cart_).state, NameState::kAwaited);
  EXPECT_EQ(asked, 1) << "once a slice";
  answer = kTaken;
  names.Refresh();
  EXPECT_EQ(names.NameOf(cart_).state, NameState::kKnown);
  EXPECT_TRUE(names.NameOf(cart_).name->Stored());
}

TEST_F(ContainerNamesTest, WaitsForPoliciesNoLongerThanForNames) {
  ContainerNames names(pods_.Source(), clock_, false, [](const Container&) { return kOpen; });
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", kId}}));
  names.Refresh();
  names.Note(cart_, kOpen);
  After(ContainerNames::kWaitNs);
  names.Refresh();
  ASSERT_THAT(names.NameOf(cart_).name, NotNull());
  EXPECT_TRUE(names.NameOf(cart_).name->LeftOut()) << "no policy has taken it";
}

TEST_F(ContainerNamesTest, TheSettledDecisionSaysWhereTo) {
  Decision answer = kTaken;
  answer.to_store = false;
  ContainerNames names(pods_.Source(), clock_, false, [&](const Container&) { return answer; });
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", kId}}));
  names.Refresh();
  names.Note(cart_, kOpen);
  EXPECT_TRUE(names.NameOf(cart_).name->Shown());
  EXPECT_FALSE(names.NameOf(cart_).name->Stored());
  EXPECT_FALSE(names.NameOf(cart_).name->LeftOut());
}

// Another policy that might have taken all of it had everything sampled.
TEST_F(ContainerNamesTest, WhatAFilterWouldNotHaveTakenIsLeftOut) {
  k8s::FilterSpec spec;
  spec.cpus = "0";
  Decision answer = kTaken;
  answer.filter = TaskFilter::Of({std::make_shared<PolicyFilter>(spec)});
  for (const bool filtered : {false, true}) {
    ContainerNames names(pods_.Source(), clock_, false, [&](const Container&) { return answer; });
    pods_.Add(PodCalled("checkout-1", kUid, {{"cart", kId}}));
    names.Refresh();
    Decision open = kOpen;
    if (filtered) open.filter = answer.filter;
    names.Note(cart_, open);
    EXPECT_EQ(names.NameOf(cart_).name->LeftOut(), !filtered);
  }
}

TEST_F(ContainerNamesTest, AfterAWhileThePathIsTheName) {
  pods_.Publish();
  Look();
  After(30 * kNsPerSecond);
  EXPECT_EQ(Look().state, NameState::kAwaited) << "half a minute at least";
  After(ContainerNames::kWaitNs - 30 * kNsPerSecond);
  EXPECT_EQ(Look().state, NameState::kMissing);
  EXPECT_EQ(Look().name->labels, kByPath);
  EXPECT_EQ(Look().name->pod_uid, kUid);
}

TEST_F(ContainerNamesTest, AContainerThatItsPodDoesNotTellOfIsCalledAfterThePod) {
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", "another"}}));  // the pause container
  EXPECT_EQ(Look().state, NameState::kAwaited);
  After(ContainerNames::kWaitNs);
  EXPECT_EQ(Look().state, NameState::kMissing);
  EXPECT_EQ(Look().name->labels, (k8s::PathLabels{"shop", "checkout-1", "0bf1a356c139"}));
}

TEST_F(ContainerNamesTest, ANameThatComesAfterAllTakesThePathsPlace) {
  Look();
  After(ContainerNames::kWaitNs);
  Look();
  EXPECT_THAT(names_.TakeRetired(), IsEmpty());
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", kId}}));
  EXPECT_EQ(Look().state, NameState::kKnown);
  EXPECT_EQ(Look().name->labels, kByPod);
  EXPECT_THAT(names_.TakeRetired(), ElementsAre(kByPath));
  EXPECT_THAT(names_.TakeRetired(), IsEmpty());
}

TEST_F(ContainerNamesTest, ThePodsOwnCgroupNeedsNoContainer) {
  const auto pod = ContainerAt(std::string("/kubepods/besteffort/pod") + kUid);
  pods_.Add(PodCalled("checkout-1", kUid, {{"cart", ""}}));
  names_.Refresh();
  EXPECT_EQ(names_.NameOf(pod).name->labels, (k8s::PathLabels{"shop", "checkout-1", "-"}));
}

TEST_F(ContainerNamesTest, WhatIsInNoPodHasItsNameAtOnce) {
  names_.Refresh();
  const auto unit = ContainerAt("/system.slice/sshd.service");
  EXPECT_EQ(names_.NameOf(unit).state, NameState::kKnown);
  EXPECT_EQ(names_.NameOf(unit).name->labels, unit->labels);
}

TEST_F(ContainerNamesTest, WithoutAnApiServerThePathIsTheNameAtOnce) {
  ContainerNames alone(nullptr, clock_);
  alone.Refresh();
  EXPECT_EQ(alone.NameOf(cart_).state, NameState::kKnown);
  EXPECT_EQ(alone.NameOf(cart_).name->labels, kByPath);
}

TEST_F(ContainerNamesTest, APodMayOptOutAndInAtAnyTime) {
  k8s::Pod pod = PodCalled("checkout-1", kUid, {{"cart", kId}});
  pods_.Add(pod);
  EXPECT_FALSE(Look().name->opted_out);
  pod.opted_out = true;
  pods_.Add(pod);
  EXPECT_TRUE(Look().name->opted_out);
  EXPECT_THAT(names_.TakeRetired(), ElementsAre(kByPod)) << "its series end";
  pod.opted_out = false;
  pods_.Add(pod);
  EXPECT_FALSE(Look().name->opted_out);
  EXPECT_THAT(names_.TakeRetired(), IsEmpty());
}

TEST_F(ContainerNamesTest, TheDaemonMayBeToldNotToHeedIt) {
  ContainerNames heedless(pods_.Source(), clock_, /*ignore_opt_out=*/true);
  k8s::Pod pod = PodCalled("checkout-1", kUid, {{"cart", kId}});
  pod.opted_out = true;
  pods_.Add(pod);
  heedless.Refresh();
  EXPECT_FALSE(heedless.NameOf(cart_).name->opted_out);
  pods_.Add(pod);
  heedless.Refresh();
  EXPECT_FALSE(heedless.NameOf(cart_).name->opted_out);
}

TEST_F(ContainerNamesTest, MayBeGivenUp) {
  Look();
  names_.GiveUp(cart_);
  EXPECT_EQ(Look().state, NameState::kMissing);
}

TEST_F(ContainerNamesTest, ForgetsContainersThatNobodyElseKnows) {
  const Container* gone = cart_.get();
  Look();
  names_.Refresh();
  EXPECT_THAT(names_.Find(*gone), NotNull());
  cart_.reset();
  After(61 * kNsPerSecond);
  names_.Refresh();
  EXPECT_THAT(names_.Find(*gone), IsNull());
}

}  // namespace
}  // namespace firetower::daemon
