// SPDX-License-Identifier: Apache-2.0
#include "hub/agent_pods.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "k8s/watch/object_fields.h"

namespace firetower::hub {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kGrace = AgentLife::kGraceNs;

AgentPod Read(const std::string& json) {
  const Result<k8s::Node> object = k8s::ParseObject(json, AgentPodsOf("firetower").fields);
  EXPECT_TRUE(object) << object.error().message();
  return *ReadAgentPod(*object);
}

TEST(AgentPod, IsReadyByItsCondition) {
  const auto with = [](const std::string& status, const std::string& meta = "") {
    return fmt::format(R"({{"metadata":{{"name":"a"{}}},"spec":{{"nodeName":"node-1"}},)"
                       R"("status":{{"conditions":[{{"type":"Initialized","status":"True"}},)"
                       R"({{"type":"Ready","status":"{}"}}]}}}})",
                       meta, status);
  };
  EXPECT_EQ(Read(with("True")).node, "node-1");
  EXPECT_TRUE(Read(with("True")).ready);
  EXPECT_FALSE(Read(with("False")).ready);
  EXPECT_FALSE(Read(with("Unknown")).ready);
  EXPECT_FALSE(Read(with("True", R"(,"deletionTimestamp":"2026-11-22T10:00:00Z")")).ready);
  EXPECT_FALSE(Read(R"({"metadata":{"name":"a"},"spec":{"nodeName":"node-1"}})").ready);
}

class AgentLifeTest : public ::testing::Test {
 protected:
  void Pods(const std::vector<AgentPod>& pods) {
    AgentPodStore::Objects objects;
    for (size_t i = 0; i < pods.size(); ++i)
      objects[std::to_string(i)] = {"uid", std::make_shared<const AgentPod>(pods[i])};
    life_.Take(std::make_shared<const AgentPodStore::Objects>(std::move(objects)));
  }
  std::vector<std::string> LookAfter(int64_t ns) {
    return life_.Look({"node-1", "node-2"}, now_ns_ += ns);
  }

  AgentLife life_;
  int64_t now_ns_ = 1000 * kGrace;
};

TEST_F(AgentLifeTest, ANodeWhoseAgentIsNotReadyForAWhileIsDown) {
  Pods({{"node-1", true}, {"node-2", true}});
  EXPECT_THAT(LookAfter(0), IsEmpty());
  Pods({{"node-1", true}, {"node-2", false}});
  EXPECT_THAT(LookAfter(0), IsEmpty());
  EXPECT_THAT(LookAfter(kGrace - 1), IsEmpty()) << "it may restart";
  EXPECT_THAT(LookAfter(1), ElementsAre("node-2"));
  EXPECT_TRUE(life_.IsDown("node-2"));
  EXPECT_FALSE(life_.IsDown("node-1"));
  EXPECT_THAT(LookAfter(kGrace), IsEmpty()) << "told once";
  Pods({{"node-1", true}, {"node-2", true}});
  EXPECT_THAT(LookAfter(1), ElementsAre("node-2"));
  EXPECT_FALSE(life_.IsDown("node-2"));
}

TEST_F(AgentLifeTest, SoIsOneWithoutAPod) {
  Pods({{"node-1", true}});
  LookAfter(0);
  EXPECT_THAT(LookAfter(kGrace), ElementsAre("node-2"));
  EXPECT_TRUE(life_.AnyDown());
  EXPECT_TRUE(life_.AnyReady());
}

// A deleted DaemonSet has no pods.
TEST_F(AgentLifeTest, SoAreAllWithoutAnyPod) {
  Pods({});
  LookAfter(0);
  EXPECT_THAT(LookAfter(kGrace), ElementsAre("node-1", "node-2"));
  EXPECT_FALSE(life_.AnyReady());
}

// An agent that never came so far as to report.
TEST_F(AgentLifeTest, SoIsOneThatNeverReported) {
  Pods({{"node-1", true}, {"node-2", true}, {"node-3", false}, {"", false}});
  LookAfter(0);
  EXPECT_THAT(LookAfter(kGrace), ElementsAre("node-3"));
  Pods({{"node-1", true}, {"node-2", true}});
  EXPECT_THAT(LookAfter(1), ElementsAre("node-3")) << "the node is gone";
  EXPECT_FALSE(life_.AnyDown());
}

TEST_F(AgentLifeTest, OneThatIsReplacedIsNot) {
  Pods({{"node-1", true}, {"node-2", true}});
  LookAfter(0);
  Pods({{"node-1", true}, {"node-2", false}});
  LookAfter(kGrace / 2);
  Pods({{"node-1", true}, {"node-2", false}, {"node-2", true}});
  EXPECT_THAT(LookAfter(kGrace), IsEmpty());
  Pods({{"node-1", true}, {"node-2", false}});
  EXPECT_THAT(LookAfter(kGrace - 1), IsEmpty()) << "its time begins anew";
}

TEST_F(AgentLifeTest, NoneIsDownWhilePodsCannotBeRead) {
  LookAfter(0);
  EXPECT_THAT(LookAfter(100 * kGrace), IsEmpty());
  EXPECT_FALSE(life_.AnyDown());
}

}  // namespace
}  // namespace firetower::hub
