// SPDX-License-Identifier: Apache-2.0
// The pods of one node on a real kube-apiserver, without a kubelet: the test writes what one would.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "daemon/cluster/cluster.h"
#include "daemon/cluster/watch_checks.h"
#include "k8s/pods/pod_tracker.h"
#include "k8s/watch/object_meta.h"
#include "tests/cluster/text_sink.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::TextSink;
using ::testing::HasSubstr;

constexpr int kPods = 300;
constexpr const char* kUrl = "/api/v1/namespaces/default/pods";

class RealPods : public ::testing::Test {
 protected:
  void SetUp() override {
    (void)std::signal(SIGPIPE, SIG_IGN);  // as the program does
    kubeconfig_ = std::getenv("FIRETOWER_TEST_KUBECONFIG");
    if (kubeconfig_ == nullptr) GTEST_SKIP() << "FIRETOWER_TEST_KUBECONFIG names no API server";
    client_ =
        std::make_unique<k8s::ApiClient>(ConfigOf("admin"), "firetower-test", Clock::System());
  }

  k8s::ClientConfig ConfigOf(std::string_view context) {
    Result<k8s::ClientConfig> config = k8s::LoadKubeconfig(kubeconfig_, context);
    EXPECT_TRUE(config) << config.error().message();
    return config.value_or(k8s::ClientConfig{});
  }
  std::string Call(const std::string& method, const std::string& target, const std::string& body,
                   const std::string& type = "application/json") {
    TextSink sink;
    Result<k8s::ApiReply> reply = client_->Send({method, target, body, type}, sink);
    EXPECT_TRUE(reply && reply->ok()) << (reply ? reply->refusal : reply.error().message());
    return sink.text;
  }
  // Its uid.
  std::string Create(int number, const std::string& node) {
    const std::string object =
        Call("POST", kUrl,
             fmt::format(R"({{"metadata":{{"name":"pod-{}","labels":{{"app":"churn"}}}},"spec":)"
                         R"({{"nodeName":"{}","containers":[{{"name":"main","image":"none"}}]}}}})",
                         number, node));
    const Result<k8s::Node> parsed = k8s::ParseObject(object, {"metadata.uid"});
    return std::string(k8s::TextAt(*parsed, {"metadata", "uid"}));
  }
  void TellId(int number) {
    Call("PATCH", fmt::format("{}/pod-{}/status", kUrl, number),
         fmt::format(R"({{"status":{{"containerStatuses":[{{"name":"main","ready":true,"image":"",)"
                     R"("imageID":"","restartCount":0,"containerID":"containerd://{:064d}"}}]}}}})",
                     number),
         "application/strategic-merge-patch+json");
  }
  void Delete(int number) {
    Call("DELETE", fmt::format("{}/pod-{}?gracePeriodSeconds=0", kUrl, number), "");
  }

  template <typename Condition>
  bool Await(Condition holds) {
    const int64_t until_ns = Clock::System().MonotonicNs() + 30 * kNsPerSecond;
    while (!holds()) {
      if (Clock::System().MonotonicNs() > until_ns) return false;
      changed_.Wait(100);
    }
    return true;
  }

  const char* kubeconfig_ = nullptr;
  std::unique_ptr<k8s::ApiClient> client_;
  MetricsRegistry registry_;
  WakeFd changed_;
  k8s::PodTracker pods_{Clock::System(), [this] { changed_.Notify(); }};
};

TEST_F(RealPods, OfOneNodeAreKnownThroughTheirWholeLives) {
  Cluster cluster(ConfigOf("admin"), "node-1", registry_, Clock::System());
  cluster.Watch(k8s::PodsOf("node-1"), pods_);
  cluster.Start();
  ASSERT_TRUE(Await([&] { return pods_.index() != nullptr; }));
  std::vector<std::string> uids;
  for (int i = 0; i < kPods; ++i) uids.push_back(Create(i, i % 3 == 2 ? "node-2" : "node-1"));
  for (int i = 0; i < kPods; ++i) TellId(i);
  const auto is_whole = [&](int i) {
    const auto pod = pods_.index()->Find(uids[static_cast<size_t>(i)]);
    return pod != nullptr && pod->FindContainer(fmt::format("{:064d}", i)) != nullptr;
  };
  EXPECT_TRUE(Await([&] { return is_whole(0) && is_whole(kPods - 2); }));
  for (int i = 0; i < kPods; ++i) EXPECT_EQ(is_whole(i), i % 3 != 2) << i;
  EXPECT_EQ(pods_.index()->live().size(), size_t{kPods} * 2 / 3);
  for (int i = 0; i < kPods; ++i) Delete(i);
  EXPECT_TRUE(Await([&] { return pods_.index()->live().empty(); }));
  for (int i = 0; i < kPods; ++i) EXPECT_EQ(is_whole(i), i % 3 != 2) << i << ", deleted";
  cluster.Stop();
  EXPECT_EQ(pods_.left_out(), 0u);
  const std::string metrics = registry_.Render(ExpositionFormat::kText);
  EXPECT_THAT(metrics, HasSubstr("firetower_kube_requests_total{verb=\"watch\",resource=\"pods\""));
  EXPECT_THAT(metrics, ::testing::Not(HasSubstr("firetower_kube_objects_skipped_total{")));
}

TEST_F(RealPods, ThatMayNotBeWatchedAreNamedByTheDoctor) {
  Cluster cluster(ConfigOf("nobody"), "node-1", registry_, Clock::System());
  cluster.Watch(k8s::PodsOf("node-1"), pods_);
  cluster.Start();
  EXPECT_TRUE(
      Await([&] { return cluster.watches()[0].state.health == k8s::ReflectorHealth::kForbidden; }));
  const std::vector<Check> checks =
      WatchChecks(cluster.watches(), cluster.ServerText(), Clock::System().WallNs());
  EXPECT_EQ(checks.at(0).status, CheckStatus::kWarn);
  EXPECT_THAT(checks.at(0).message, HasSubstr("\"nobody\" cannot list resource \"pods\""));
  EXPECT_THAT(AwaitedWatches(cluster.watches()), ::testing::IsEmpty());
}

}  // namespace
}  // namespace firetower::daemon
