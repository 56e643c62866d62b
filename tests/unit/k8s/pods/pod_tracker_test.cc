// SPDX-License-Identifier: Apache-2.0
#include "k8s/pods/pod_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/k8s/scripted_api_server.h"
#include "tests/unit/k8s/pods/real_pods.h"

namespace firetower::k8s {
namespace {

using ::testing::HasSubstr;
using ::testing::IsNull;
using ::testing::NotNull;

class Uncounted : public ReflectorMetrics {
  void OnRequest(std::string_view, std::string_view, int) override {}
  void OnRestart(std::string_view, std::string_view, bool) override {}
  void OnSkipped(std::string_view, std::string_view) override {}
};

constexpr const char* kCheckout = "48d24770-3d7e-40e7-a11a-ed1f7d8d2b22";
constexpr const char* kBrief = "2f7a3cd3-fc88-4d1e-a830-e30b4f635932";
constexpr const char* kBriefId = "906cee5ee6d0fdc543c14323c0947345e6987611da2f6a61525b0f1da5a674f9";

class PodTrackerTest : public ::testing::Test {
 protected:
  static std::string PodJson(int number, const std::string& id = "") {
    return fmt::format(
        R"({{"metadata":{{"name":"p{0}","namespace":"n","uid":"u{0}"}},"spec":{{"containers":)"
        R"([{{"name":"c"}}]}},"status":{{"containerStatuses":[{{"name":"c","containerID":"x://{1}"}}]}}}})",
        number, id);
  }
  void Upsert(const std::string& json) {
    tracker_.Upsert(Parsed(json));
    tracker_.Flush();
  }
  std::shared_ptr<const Pod> Find(std::string_view uid) const {
    return tracker_.index()->Find(uid);
  }

  FakeClock clock_{kNsPerSecond, kNsPerSecond};
  int changes_ = 0;
  PodTracker tracker_{clock_, [this] { ++changes_; }};
};

TEST_F(PodTrackerTest, KnowsThePodsOfItsNode) {
  ScriptedApiServer server(clock_);
  Uncounted metrics;
  Reflector reflector(server, PodsOf("node-1"), tracker_, metrics, clock_, 1,
                      {.watch_list = false});
  EXPECT_THAT(tracker_.index(), IsNull()) << "nobody knows yet";
  server.Expect({.pieces = {RealText("pods.json")}});
  reflector.StepNs();
  EXPECT_THAT(server.last_target(), HasSubstr("/api/v1/pods?"));
  EXPECT_THAT(server.last_target(), HasSubstr("fieldSelector=spec.nodeName%3Dnode-1"));
  ASSERT_THAT(tracker_.index(), NotNull());
  EXPECT_EQ(tracker_.index()->live().size(), 8u);
  ASSERT_THAT(Find(kCheckout), NotNull());
  EXPECT_EQ(Find(kCheckout)->name, "checkout-7d9859fcc4-blzzb");
  EXPECT_EQ(Find("9dd382b255753e4e4c16b6120f0fae22")->name, "etcdish-node-1");
  EXPECT_THAT(Find("47b733e5-a029-4212-802d-e4075650dd83"), IsNull()) << "no cgroup is called so";
  EXPECT_EQ(tracker_.left_out(), 0u);
}

// The events as they came; bytes arrive in pieces.
TEST_F(PodTrackerTest, FollowsAPodThatLivesShortly) {
  tracker_.BeginSet();
  tracker_.CommitSet();
  const std::vector<std::string> events = RealFrames("brief-watch.json", FrameMode::kWatch);
  ASSERT_EQ(events.size(), 10u);
  FieldSet fields = {"type"};
  fields.KeepBelow("object", WithIdentity(PodFields()));
  bool container_known = false;
  for (const std::string& text : events) {
    const Node event = *ParseObject(text, fields);
    const Node& object = *event.Find("object");
    event.Find("type")->text == "DELETED" ? tracker_.Delete(object) : tracker_.Upsert(object);
    tracker_.Flush();
    ASSERT_THAT(Find(kBrief), NotNull());
    if (Find(kBrief)->FindContainer(kBriefId) != nullptr) container_known = true;
    EXPECT_EQ(Find(kBrief)->FindContainer(kBriefId) != nullptr, container_known);
  }
  EXPECT_TRUE(container_known);
  EXPECT_EQ(tracker_.index()->live().size(), 0u);
  EXPECT_EQ(Find(kBrief)->FindContainer(kBriefId)->name, "brief");
}

TEST_F(PodTrackerTest, ADeletedPodIsKnownForSomeMinutes) {
  Upsert(PodJson(1, "a"));
  tracker_.Delete(Parsed(PodJson(1, "a")));
  tracker_.Flush();
  clock_.Advance(PodTracker::kKeepGoneNs);
  Upsert(PodJson(2));
  ASSERT_THAT(Find("u1"), NotNull());
  clock_.Advance(1);
  Upsert(PodJson(3));
  EXPECT_THAT(Find("u1"), IsNull());
}

TEST_F(PodTrackerTest, APodThatOnlyItsDeletionTellsOfIsKnown) {
  Upsert(PodJson(1));
  tracker_.Delete(Parsed(PodJson(2, "b")));
  tracker_.Flush();
  EXPECT_EQ(Find("u2")->FindContainer("b")->name, "c");
}

TEST_F(PodTrackerTest, PodsThatAListDoesNotHaveAnyMoreAreGone) {
  Upsert(PodJson(1, "a"));
  Upsert(PodJson(2));
  tracker_.BeginSet();
  tracker_.AddToSet(Parsed(PodJson(2)));
  EXPECT_EQ(tracker_.index()->live().size(), 2u) << "until the list is whole";
  tracker_.CommitSet();
  EXPECT_EQ(tracker_.index()->live().size(), 1u);
  EXPECT_EQ(tracker_.index()->gone().size(), 1u);
  EXPECT_EQ(Find("u1")->FindContainer("a")->name, "c");
}

TEST_F(PodTrackerTest, AnAbandonedListChangesNothing) {
  Upsert(PodJson(1));
  tracker_.BeginSet();
  tracker_.AddToSet(Parsed(PodJson(2)));
  tracker_.AbandonSet();
  tracker_.BeginSet();
  tracker_.AddToSet(Parsed(PodJson(1)));
  tracker_.AddToSet(Parsed(PodJson(3)));
  tracker_.RemoveFromSet(Parsed(PodJson(3)));
  tracker_.CommitSet();
  EXPECT_EQ(tracker_.index()->live().size(), 1u);
  EXPECT_THAT(Find("u2"), IsNull());
  EXPECT_THAT(Find("u3"), NotNull()) << "it was there, and its samples are on their way";
}

TEST_F(PodTrackerTest, EveryIdThatAContainerHadStaysItsOwn) {
  for (const char* id : {"a", "b", "c"}) Upsert(PodJson(1, id));
  for (const char* id : {"a", "b", "c"})
    EXPECT_THAT(Find("u1")->FindContainer(id), NotNull()) << id;
  EXPECT_EQ(Find("u1")->containers[0].ids[0], "c");
}

// kubectl delete on a static pod deletes its mirror; kubelet makes another.
TEST_F(PodTrackerTest, AStaticPodOutlivesItsMirror) {
  const auto mirror = [](const char* uid) {
    return fmt::format(R"({{"metadata":{{"name":"etcd","namespace":"n","uid":"{}","annotations":)"
                       R"({{"kubernetes.io/config.hash":"9dd3",)"
                       R"("kubernetes.io/config.mirror":"9dd3"}}}}}})",
                       uid);
  };
  Upsert(mirror("u1"));
  Upsert(mirror("u2"));
  tracker_.Delete(Parsed(mirror("u1")));
  tracker_.Flush();
  ASSERT_THAT(Find("9dd3"), NotNull());
  EXPECT_EQ(Find("9dd3")->uid, "u2");
  EXPECT_EQ(tracker_.index()->live().size(), 1u);
  tracker_.BeginSet();
  tracker_.AddToSet(Parsed(mirror("u3")));
  tracker_.RemoveFromSet(Parsed(mirror("u2")));
  tracker_.CommitSet();
  ASSERT_THAT(Find("9dd3"), NotNull());
  EXPECT_EQ(Find("9dd3")->uid, "u3");
}

// Annotations are free text: who writes another pod's uid there must not get its samples.
TEST_F(PodTrackerTest, NoPodPassesForAnother) {
  const auto impostor = [](const char* annotations) {
    return fmt::format(R"({{"metadata":{{"name":"b","namespace":"evil","uid":"b-1","annotations":)"
                       R"({{{}}}}}}})",
                       annotations);
  };
  Upsert(R"({"metadata":{"name":"a","namespace":"n","uid":"a-1"}})");
  for (const char* annotations :
       {R"("kubernetes.io/config.hash":"a-1")",
        R"("kubernetes.io/config.hash":"a-1","kubernetes.io/config.mirror":"a-1")",
        R"("kubernetes.io/config.hash":"a-1","kubernetes.io/config.mirror":"x")"}) {
    Upsert(impostor(annotations));
    ASSERT_THAT(Find("a-1"), NotNull());
    EXPECT_EQ(Find("a-1")->namespace_name, "n") << annotations;
    EXPECT_THAT(Find("b-1"), NotNull());
  }
}

TEST_F(PodTrackerTest, TellsOfEachIndexOnce) {
  tracker_.BeginSet();
  tracker_.AddToSet(Parsed(PodJson(1)));
  tracker_.CommitSet();
  EXPECT_EQ(changes_, 1);
  tracker_.Flush();
  EXPECT_EQ(changes_, 1);
}

TEST_F(PodTrackerTest, HoldsNoMoreThanItsBounds) {
  tracker_.BeginSet();
  for (size_t i = 0; i < PodTracker::kMaxPods + 5; ++i)
    tracker_.AddToSet(Parsed(PodJson(static_cast<int>(i))));
  tracker_.AddToSet(Parsed(R"({"metadata":{"name":"x"}})"));
  tracker_.CommitSet();
  EXPECT_EQ(tracker_.index()->live().size(), PodTracker::kMaxPods);
  EXPECT_EQ(tracker_.left_out(), 6u);
  for (size_t i = 0; i < PodTracker::kMaxGone + 5; ++i) {
    clock_.Advance(1);
    tracker_.Delete(Parsed(PodJson(static_cast<int>(i))));
  }
  tracker_.Flush();
  EXPECT_EQ(tracker_.index()->gone().size(), PodTracker::kMaxGone);
  EXPECT_THAT(Find("u4"), IsNull()) << "the longest gone went first";
  EXPECT_THAT(Find("u5"), NotNull());
}

}  // namespace
}  // namespace firetower::k8s
