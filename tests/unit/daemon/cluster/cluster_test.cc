// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster/cluster.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <future>
#include <utility>

#include "daemon/cluster/watch_checks.h"
#include "k8s/watch/object_store.h"
#include "tests/support/k8s/fake_http_server.h"

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;

using Names = k8s::ObjectStore<std::string>;

Result<std::string> NameOf(const k8s::Node& object) {
  return std::string(k8s::TextAt(object, {"metadata", "name"}));
}

// Says when the first object is there.
class First : public k8s::ObjectListener<std::string> {
 public:
  void OnUpsert(const std::string&, const std::shared_ptr<const std::string>&) override {
    if (!std::exchange(told_, true)) there.set_value();
  }
  void OnDelete(const std::string&, const std::shared_ptr<const std::string>&) override {}
  std::promise<void> there;

 private:
  bool told_ = false;
};

constexpr std::string_view kEnd =
    R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":)"
    R"({"k8s.io/initial-events-end":"true"}}}})"
    "\n";

// Pods are given, nodes are refused.
bool Serve(k8s::FakePeer& peer, const std::string& request) {
  if (request.find("GET /api/v1/pods?watch=1") == 0) {
    peer.Write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
    peer.Write(
        R"({"type":"ADDED","object":{"metadata":{"name":"cart","namespace":"shop","uid":"u",)"
        R"("resourceVersion":"5"}}})");
    peer.Write(kEnd);
    peer.AwaitClose();
    return false;
  }
  peer.Reply("403 Forbidden", R"({"kind":"Status","message":"nodes is forbidden"})");
  return true;
}

class ClusterTest : public ::testing::Test {
 protected:
  ClusterTest() { (void)std::signal(SIGPIPE, SIG_IGN); }  // as the program does

  k8s::ClientConfig ConfigOf(uint16_t port) {
    k8s::ClientConfig config;
    config.server = *k8s::ParseServerUrl(fmt::format("http://127.0.0.1:{}", port));
    return config;
  }
  std::string Exposition() const { return registry_.Render(ExpositionFormat::kText); }

  MetricsRegistry registry_;
};

TEST_F(ClusterTest, EachKindIsWatchedByItself) {
  k8s::FakeHttpServer pods_server(Serve);
  First first;
  Names pods(NameOf, 100, &first);
  Cluster cluster(ConfigOf(pods_server.port()), "node-1", registry_, Clock::System());
  cluster.Watch({"pods", "/api/v1/pods", "spec.nodeName=node-1", "", {}}, pods);
  ASSERT_EQ(cluster.watches().size(), 1u);
  EXPECT_EQ(AwaitedWatches(cluster.watches()).size(), 1u);
  cluster.Start();
  first.there.get_future().wait();
  cluster.Stop();
  ASSERT_TRUE(pods.Get());
  EXPECT_TRUE(pods.Get()->contains("shop/cart"));
  EXPECT_TRUE(cluster.watches()[0].state.has_synced);
  EXPECT_THAT(AwaitedWatches(cluster.watches()), ::testing::IsEmpty());
  cluster.UpdateMetrics();
  EXPECT_THAT(Exposition(),
              HasSubstr("firetower_kube_last_sync_timestamp_seconds{resource=\"pods\"} 1"));
}

TEST_F(ClusterTest, CountsWhatIsRefused) {
  k8s::FakeHttpServer server(Serve);
  Names nodes(NameOf, 100);
  Cluster cluster(ConfigOf(server.port()), "node-1", registry_, Clock::System());
  cluster.Watch({"nodes", "/api/v1/nodes", "", "", {}}, nodes);
  cluster.Start();
  while (cluster.watches()[0].state.health != k8s::ReflectorHealth::kForbidden) {
  }
  cluster.Stop();
  cluster.UpdateMetrics();
  EXPECT_THAT(Exposition(),
              HasSubstr("firetower_kube_requests_total{verb=\"list\",resource=\"nodes\","
                        "code=\"403\"} 1"));
  EXPECT_THAT(Exposition(), HasSubstr("firetower_kube_synced{resource=\"nodes\"} 0"));
  EXPECT_THAT(cluster.watches()[0].state.message, HasSubstr("nodes is forbidden"));
}

TEST_F(ClusterTest, StopsWhileNothingAnswers) {
  Names pods(NameOf, 100);
  Cluster cluster(ConfigOf(1), "node-1", registry_, Clock::System());
  cluster.Watch({"pods", "/api/v1/pods", "", "", {}}, pods);
  cluster.Start();
  cluster.Stop();
  EXPECT_FALSE(pods.Get());
  EXPECT_THAT(Exposition(), HasSubstr("firetower_kube_synced{resource=\"pods\"} 0"));
}

}  // namespace
}  // namespace firetower::daemon
