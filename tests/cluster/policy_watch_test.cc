// SPDX-License-Identifier: Apache-2.0
// The daemon's policies from a real kube-apiserver with the real definitions, by its own watches.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "daemon/cluster/cluster.h"
#include "daemon/policy/policy_objects.h"
#include "k8s/watch/watch_thread.h"
#include "tests/cluster/text_sink.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::TextSink;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kPolicies =
    "/apis/firetower.dev/v1alpha1/namespaces/default/profilingpolicies";
constexpr const char* kClusterPolicies = "/apis/firetower.dev/v1alpha1/clusterprofilingpolicies";
constexpr const char* kMerge = "application/merge-patch+json";

class PolicyWatch : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* kubeconfig = std::getenv("FIRETOWER_TEST_KUBECONFIG");
    if (kubeconfig == nullptr) GTEST_SKIP() << "FIRETOWER_TEST_KUBECONFIG names no API server";
    (void)std::signal(SIGPIPE, SIG_IGN);  // as the programs do
    Result<k8s::ClientConfig> config = k8s::LoadKubeconfig(kubeconfig, "admin");
    ASSERT_TRUE(config) << config.error().message();
    cluster_ = std::make_unique<Cluster>(*config, "node", registry_, Clock::System());
    client_ = cluster_->NewClient();
    for (const bool of_cluster : {false, true})
      cluster_->Watch(PolicyObjects::ResourceOf(of_cluster), objects_.consumer(of_cluster));
    cluster_->Start();
  }
  void TearDown() override {
    if (cluster_) cluster_->Stop();
  }

  int Call(const std::string& method, const std::string& target, const std::string& body = "",
           const std::string& type = "application/json") {
    TextSink sink;
    Result<k8s::ApiReply> reply =
        client_->Send({method, target, body, body.empty() ? "" : type}, sink);
    EXPECT_TRUE(reply) << reply.error().message();
    return reply ? reply->status : 0;
  }
  static std::string Policy(const std::string& name, const std::string& kind = "ProfilingPolicy") {
    return fmt::format(
        R"({{"apiVersion":"firetower.dev/v1alpha1","kind":"{}","metadata":{{"name":"{}"}},)"
        R"("spec":{{"mode":"General","targets":{{"podSelector":{{"matchLabels":{{}}}}}}}}}})",
        kind, name);
  }
  // Waits for the descriptor and looks, as the control thread does.
  template <typename Holds>
  bool Until(Holds holds, int timeout_ms = 2000) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    for (;;) {
      objects_.Reload();
      if (holds()) return true;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - std::chrono::steady_clock::now());
      if (left.count() <= 0) return false;
      pollfd wait{objects_.fd(), POLLIN, 0};
      ::poll(&wait, 1, static_cast<int>(left.count()));
    }
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const LoadedPolicy& loaded : objects_.policies())
      names.push_back(DisplayName(loaded.policy));
    return names;
  }

  MetricsRegistry registry_;
  PolicyObjects objects_{Clock::System()};
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<k8s::ApiClient> client_;
};

TEST_F(PolicyWatch, FollowsWhatAPersonApplies) {
  ASSERT_EQ(Call("POST", kPolicies, Policy("cart")), 201);
  ASSERT_EQ(Call("POST", kClusterPolicies, Policy("nodes", "ClusterProfilingPolicy")), 201);
  EXPECT_TRUE(Until([&] { return objects_.policies().size() == 2; }, 10000));
  EXPECT_THAT(Names(), ElementsAre("ProfilingPolicy default/cart", "ClusterProfilingPolicy nodes"));
  EXPECT_THAT(objects_.errors(), IsEmpty());
  const k8s::ProfilingPolicy created = objects_.policies()[0].policy;
  EXPECT_EQ(created.generation, 1);
  EXPECT_GT(created.created_ns, 1'700'000'000 * kNsPerSecond);
  EXPECT_EQ(created.uid.size(), 36u);

  const std::string cart = std::string(kPolicies) + "/cart";
  ASSERT_EQ(Call("PATCH", cart, R"({"spec":{"priority":7}})", kMerge), 200);
  EXPECT_TRUE(Until([&] { return objects_.policies()[0].policy.spec.priority == 7; }));
  EXPECT_EQ(objects_.policies()[0].policy.generation, 2);

  // A status is told, and changes nothing; the priority after it is the next change.
  ASSERT_EQ(Call("PATCH", cart + "/status", R"({"status":{"observedGeneration":2}})", kMerge), 200);
  pollfd told{objects_.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&told, 1, 2000), 1);
  EXPECT_FALSE(objects_.Reload());

  ASSERT_EQ(Call("DELETE", cart), 200);
  EXPECT_TRUE(Until([&] { return objects_.policies().size() == 1; })) << "within 2 s";
  EXPECT_THAT(Names(), ElementsAre("ClusterProfilingPolicy nodes"));
  ASSERT_EQ(Call("DELETE", std::string(kClusterPolicies) + "/nodes"), 200);
  EXPECT_TRUE(Until([&] { return objects_.policies().empty(); }));
}

// An object that a finalizer holds back is gone for us: its owner has deleted it.
TEST_F(PolicyWatch, APolicyThatIsBeingDeletedStops) {
  ASSERT_EQ(Call("POST", kPolicies, Policy("held")), 201);
  const std::string held = std::string(kPolicies) + "/held";
  ASSERT_EQ(
      Call("PATCH", held, R"({"metadata":{"finalizers":["test.firetower.dev/hold"]}})", kMerge),
      200);
  EXPECT_TRUE(Until([&] { return objects_.policies().size() == 1; }, 10000));
  ASSERT_EQ(Call("DELETE", held), 200);
  EXPECT_TRUE(Until([&] { return objects_.policies().empty(); }));
  EXPECT_EQ(Call("PATCH", held, R"({"metadata":{"finalizers":null}})", kMerge), 200);
}

}  // namespace
}  // namespace firetower::daemon
