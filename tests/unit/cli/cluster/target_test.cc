// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::cli {
namespace {

using ::testing::HasSubstr;

TEST(RecordTarget, ReadsWorkloadsAsKubectlSpellsThem) {
  struct Case {
    const char* text;
    const char* kind;
    const char* name;
  };
  // The names and short names of `kubectl api-resources`.
  for (const Case& one :
       std::initializer_list<Case>{{"deployment/checkout", "Deployment", "checkout"},
                                   {"Deployments/checkout", "Deployment", "checkout"},
                                   {"deploy/checkout", "Deployment", "checkout"},
                                   {"deployment.apps/checkout", "Deployment", "checkout"},
                                   {"sts/db", "StatefulSet", "db"},
                                   {"ds/agent", "DaemonSet", "agent"},
                                   {"rs/checkout-7d98", "ReplicaSet", "checkout-7d98"},
                                   {"job/report", "Job", "report"},
                                   {"cj/report", "CronJob", "report"},
                                   {"po/web-0.a", "Pod", "web-0.a"}}) {
    Result<RecordTarget> target = ParseTarget(one.text);
    ASSERT_TRUE(target) << one.text << ": " << target.error().message();
    EXPECT_EQ(target->targets, std::string(R"({"workloadRefs":[{"kind":")") + one.kind +
                                   R"(","name":")" + one.name + R"("}]})");
    EXPECT_EQ(target->text, one.text);
  }
}

TEST(RecordTarget, ReadsLabels) {
  Result<RecordTarget> target = ParseTarget("app.kubernetes.io/name=checkout,tier==web");
  ASSERT_TRUE(target);
  EXPECT_EQ(
      target->targets,
      R"({"podSelector":{"matchLabels":{"app.kubernetes.io/name":"checkout","tier":"web"}}})");
  EXPECT_EQ(target->stem, "checkout");
}

// metadata.generateName with five more characters is a policy's name: a DNS label of at most 63.
TEST(RecordTarget, MakesAStemThatIsPartOfAName) {
  EXPECT_EQ(ParseTarget("pod/web-0.example")->stem, "web-0-example");
  EXPECT_EQ(ParseTarget("app=Web_1")->stem, "web-1");
  EXPECT_EQ(ParseTarget("app=")->stem, "pods");
  const std::string long_name = "deploy/" + std::string(200, 'a');
  EXPECT_LE(ParseTarget(long_name)->stem.size() + std::string("record--xxxxx").size(), 63u);
}

TEST(RecordTarget, SaysWhatItTakesInstead) {
  const auto why = [](const char* text) {
    Result<RecordTarget> target = ParseTarget(text);
    EXPECT_FALSE(target) << text;
    return target ? "" : target.error().message();
  };
  EXPECT_THAT(why("checkout"), HasSubstr("deployment/checkout"));
  EXPECT_THAT(why(""), HasSubstr("app=checkout"));
  EXPECT_THAT(why("deploymnt/checkout"), HasSubstr("did you mean 'deployment'"));
  EXPECT_THAT(why("node/worker-1"), HasSubstr("cannot target pods by their Node"));
  EXPECT_THAT(why("rc/old"), HasSubstr("cannot target"));
  EXPECT_THAT(why("pod/"), HasSubstr("not a valid name of an object"));
  EXPECT_THAT(why("pod/Web"), HasSubstr("not a valid name of an object"));
  EXPECT_THAT(why("app!=web"), HasSubstr("not KEY=VALUE"));
  EXPECT_THAT(why("app=web,tier"), HasSubstr("not KEY=VALUE"));
  EXPECT_THAT(why("=web"), HasSubstr("label"));
  EXPECT_THAT(why("app=\"web\""), HasSubstr("label value"));
}

}  // namespace
}  // namespace firetower::cli
