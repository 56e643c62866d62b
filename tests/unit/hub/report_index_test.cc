// SPDX-License-Identifier: Apache-2.0
#include "hub/report_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::hub {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::shared_ptr<const k8s::NodeReport> Report(const std::string& node,
                                              std::vector<std::string> uids) {
  k8s::NodeReport report;
  report.node = node;
  for (std::string& uid : uids) {
    k8s::PolicyRow row;
    row.uid = std::move(uid);
    report.policies.push_back(std::move(row));
  }
  return std::make_shared<const k8s::NodeReport>(std::move(report));
}

std::vector<std::string> NodesOf(const ReportIndex& index, const std::string& uid) {
  std::vector<std::string> nodes;
  for (const k8s::ReportedRow& row : index.RowsOf(uid)) nodes.emplace_back(row.node);
  return nodes;
}

TEST(ReportIndex, KnowsWhoseAgentIsAPodOfANamespace) {
  const auto report = [](const std::string& node, const std::string& namespace_name) {
    k8s::NodeReport made = *Report(node, {"p"});
    made.agent.pod_namespace = namespace_name;
    return std::make_shared<const k8s::NodeReport>(made);
  };
  ReportIndex index;
  index.Apply({true,
               {{"one", report("one", "firetower")},
                {"two", report("two", "")},
                {"three", report("three", "other")}}});
  EXPECT_THAT(index.NodesOfPodsIn("firetower"), UnorderedElementsAre("one"));
  EXPECT_THAT(index.PoliciesOf("two"), UnorderedElementsAre("p"));
  EXPECT_THAT(index.PoliciesOf("four"), IsEmpty());
}

TEST(ReportIndex, FollowsWhatNodesReport) {
  ReportIndex index;
  const ReportChanges all = {true,
                             {{"one", Report("one", {"p", "q"})}, {"two", Report("two", {"q"})}}};
  EXPECT_THAT(index.Apply(all), UnorderedElementsAre("p", "q"));
  EXPECT_THAT(NodesOf(index, "q"), UnorderedElementsAre("one", "two"));
  EXPECT_EQ(index.nodes(), 2u);
  EXPECT_THAT(index.Apply(all), IsEmpty()) << "the same again";

  EXPECT_THAT(index.Apply({false, {{"one", Report("one", {"r"})}}}),
              UnorderedElementsAre("p", "q", "r"));
  EXPECT_THAT(NodesOf(index, "p"), IsEmpty());
  EXPECT_THAT(NodesOf(index, "q"), UnorderedElementsAre("two"));
  EXPECT_THAT(NodesOf(index, "r"), UnorderedElementsAre("one"));

  EXPECT_THAT(index.Apply({false, {{"two", nullptr}, {"three", nullptr}}}),
              UnorderedElementsAre("q"));
  EXPECT_THAT(NodesOf(index, "q"), IsEmpty());
  EXPECT_EQ(index.nodes(), 1u);
}

TEST(ReportIndex, AWholeSetForgetsWhatIsNotInIt) {
  ReportIndex index;
  index.Apply({true, {{"one", Report("one", {"p"})}, {"two", Report("two", {"p"})}}});
  EXPECT_THAT(index.Apply({true, {{"two", Report("two", {"q"})}}}), UnorderedElementsAre("p", "q"));
  EXPECT_THAT(NodesOf(index, "p"), IsEmpty());
  EXPECT_THAT(NodesOf(index, "q"), UnorderedElementsAre("two"));
}

}  // namespace
}  // namespace firetower::hub
