// SPDX-License-Identifier: Apache-2.0
// Proposals beside the reader that the daemon has for policies: whatever is proposed, it takes.
#include "query/mcp/proposal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "k8s/policy/load.h"

namespace firetower::query {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Fields = std::map<std::string, std::string>;

// Proposes a policy, and returns it as the daemon reads it.
k8s::ProfilingPolicy Proposed(const Fields& fields) {
  const Result<std::string> text = ProposePolicy(fields);
  EXPECT_TRUE(text) << text.error().message();
  if (!text) return {};
  k8s::PolicyFileResult read = k8s::ParsePolicies(*text, "proposal");
  for (const k8s::PolicyError& error : read.errors) ADD_FAILURE() << error.message << '\n' << *text;
  EXPECT_THAT(read.policies, SizeIs(1)) << *text;
  return read.policies.empty() ? k8s::ProfilingPolicy() : read.policies[0];
}

std::string WhyNot(Fields fields) {
  fields.emplace("name", "p");
  const Result<std::string> text = ProposePolicy(fields);
  return text ? "it was taken:\n" + *text : text.error().message();
}

TEST(ProposePolicy, IsOfOneNamespaceOrOfTheCluster) {
  EXPECT_TRUE(Proposed({{"name", "all"}}).cluster);
  const k8s::ProfilingPolicy policy = Proposed({{"name", "cart"}, {"namespace", "shop"}});
  EXPECT_FALSE(policy.cluster);
  EXPECT_EQ(policy.namespace_name, "shop");
  EXPECT_EQ(policy.name, "cart");
  EXPECT_EQ(policy.spec.mode, k8s::Mode::kGeneral);
}

TEST(ProposePolicy, NamesPodsByWorkloadAndLabels) {
  for (const char* kind : {"deployment", "deploy", "statefulset", "sts", "daemonset", "ds",
                           "replicaset", "job", "cronjob", "pod"}) {
    const k8s::ProfilingPolicy policy = Proposed(
        {{"name", "p"}, {"namespace", "shop"}, {"workload", std::string(kind) + "/web.v2"}});
    ASSERT_THAT(policy.spec.targets.workload_refs, SizeIs(1)) << kind;
    EXPECT_EQ(policy.spec.targets.workload_refs[0].name, "web.v2");
  }
  Proposed({{"name", "p"}, {"labels", "app.kubernetes.io/name=cart,tier=1"}});
  Proposed({{"name", "p"}, {"labels", "on=true"}, {"workload", "pod/1"}});
}

TEST(ProposePolicy, SaysWhatAndWhen) {
  const k8s::ProfilingPolicy policy = Proposed({{"name", "p"},
                                                {"types", "cpu,offcpu,lock,memory"},
                                                {"frequency", "199"},
                                                {"when", "continuous"}});
  ASSERT_THAT(policy.spec.profiles, SizeIs(4));
  ASSERT_TRUE(policy.spec.general);
  EXPECT_EQ(policy.spec.general->schedule, k8s::Schedule::kContinuous);
  for (const char* metric :
       {"ContainerCPU", "ContainerCPUThrottled", "ContainerMemory", "ContainerCPUPressure",
        "ContainerMemoryPressure", "ContainerIOPressure", "OOMKill"}) {
    const k8s::ProfilingPolicy trigger = Proposed({{"name", "p"},
                                                   {"namespace", "shop"},
                                                   {"when", "trigger"},
                                                   {"metric", metric},
                                                   {"above", "90"},
                                                   {"for_seconds", "0"}});
    EXPECT_EQ(trigger.spec.mode, k8s::Mode::kTrigger) << metric;
  }
  const k8s::ProfilingPolicy filter = Proposed({{"name", "p"}, {"processes", "java,kworker/0:1"}});
  EXPECT_EQ(filter.spec.mode, k8s::Mode::kFilter);
}

TEST(ProposePolicy, SaysWhatIsWrong) {
  EXPECT_THAT(WhyNot({{"namespace", "Shop"}}), HasSubstr("namespace is 'Shop': it must be lower"));
  EXPECT_THAT(WhyNot({{"workload", "web"}}), HasSubstr("KIND/NAME, as deployment/checkout"));
  EXPECT_THAT(WhyNot({{"workload", "node/web"}}), HasSubstr("one of deployment, deploy"));
  EXPECT_THAT(WhyNot({{"workload", "pod/\nkind: Secret"}}), HasSubstr("workload's name"));
  EXPECT_THAT(WhyNot({{"labels", "app"}}), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(WhyNot({{"labels", "app=\"x"}}), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(WhyNot({{"labels", "app=a,app=b"}}), HasSubstr("each key once"));
  EXPECT_THAT(WhyNot({{"metric", "ContainerCPU"}, {"above", "90"}}),
              HasSubstr("metric belongs to a trigger"));
  EXPECT_THAT(WhyNot({{"types", "lock"}, {"frequency", "99"}}), HasSubstr("belongs to type cpu"));
  EXPECT_THAT(WhyNot({{"types", "heap"}}), HasSubstr("one of cpu, offcpu, lock, memory"));
  EXPECT_THAT(WhyNot({{"types", "cpu,cpu"}}), HasSubstr("each type once"));
  EXPECT_THAT(WhyNot({{"frequency", "1000"}}), HasSubstr("a number from 1 to 999"));
  EXPECT_THAT(WhyNot({{"when", "daily"}}), HasSubstr("periodic, continuous or trigger"));
  EXPECT_THAT(WhyNot({{"when", "trigger"}}), HasSubstr("metric is ''"));
  EXPECT_THAT(WhyNot({{"when", "trigger"}, {"metric", "ContainerCPU"}}),
              HasSubstr("above is missing"));
  EXPECT_THAT(WhyNot({{"processes", "a-name-that-is-too-long"}}), HasSubstr("15 characters"));
  EXPECT_THAT(WhyNot({{"processes", "java"}, {"when", "trigger"}}), HasSubstr("continuous, as"));
  EXPECT_THAT(ProposePolicy({}).error().message(), HasSubstr("name is ''"));
}

}  // namespace
}  // namespace firetower::query
