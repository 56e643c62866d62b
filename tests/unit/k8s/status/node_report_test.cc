// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/node_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "tests/unit/k8s/status/watched_policies.h"

namespace firetower::k8s {
namespace {

using ::testing::SizeIs;
using Json = nlohmann::json;

NodeReport ReportOf(std::vector<PolicyRow> rows) {
  NodeReport report;
  report.node = "node-1";
  report.node_uid = "7d2d0b6c-7a0e-4f7c-9b1f-6a1d5b8a2f10";
  report.agent.version = "0.1.0";
  report.agent.pod_namespace = "firetower";
  report.agent.cgroup_mode = "hybrid";
  report.conditions = {{"Ready", true, "Sampling", "", kCreatedNs}};
  report.policies = std::move(rows);
  return report;
}

Result<NodeReport> ReadBack(const std::string& json) {
  FieldSet fields = NodeReportFields();
  fields.Keep({"metadata", "name"});
  const Result<Node> node = ParseObject(json, fields);
  if (!node) return node.error();
  return ReadNodeReport(*node);
}

TEST(NodeReport, IsReadBackAsItWasWritten) {
  PolicyRow one = RowOf(3, PolicyState::kArmed, "Waiting");
  one.message = "a \"quoted\" one";
  one.captures = 4;
  one.last_capture_ns = kCreatedNs;
  PolicyRow other = RowOf(1, PolicyState::kOverridden);
  other.cluster = true;
  other.namespace_name = "";
  const Result<NodeReport> read = ReadBack(NodeReportJson(ReportOf({one, other})));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->node, "node-1");
  EXPECT_EQ(read->agent.version, "0.1.0");
  EXPECT_EQ(read->agent.pod_namespace, "firetower");
  EXPECT_EQ(read->policies, (std::vector<PolicyRow>{one, other}));
}

TEST(NodeReport, BelongsToItsNode) {
  const Json json = Json::parse(NodeReportJson(ReportOf({})));
  EXPECT_EQ(json["metadata"]["ownerReferences"],
            Json::parse(R"([{"apiVersion":"v1","kind":"Node","name":"node-1",)"
                        R"("uid":"7d2d0b6c-7a0e-4f7c-9b1f-6a1d5b8a2f10"}])"));
  NodeReport unknown = ReportOf({});
  unknown.node_uid = "";
  EXPECT_FALSE(Json::parse(NodeReportJson(unknown))["metadata"].contains("ownerReferences"));
}

TEST(NodeReport, KeepsTheBoundsOfItsSchema) {
  std::vector<PolicyRow> rows(300, RowOf(1, PolicyState::kRunning, "", 100000));
  rows[299] = RowOf(1, PolicyState::kFailed, std::string(100, 'R'));
  // "é" is one character and two bytes; the last is cut in the middle.
  for (int i = 0; i < 300; ++i) rows[299].message += "\xc3\xa9";
  rows[299].message += "\xc3";
  const Json json = Json::parse(NodeReportJson(ReportOf(rows)));
  ASSERT_THAT(json["policies"], SizeIs(256));
  EXPECT_EQ(json["policiesOmitted"], 44);
  const Json& failed = json["policies"][0];
  EXPECT_EQ(failed["state"], "Failed");
  EXPECT_EQ(failed["reason"].get<std::string>().size(), 64u);
  EXPECT_EQ(failed["message"].get<std::string>().size(), 2 * 256u);
  EXPECT_EQ(json["policies"][1]["pods"], 4096);
}

TEST(NodeReport, LeavesOutRowsOfNewerAgents) {
  const Result<NodeReport> read = ReadBack(
      R"({"metadata":{"name":"n"},"policies":[{"kind":"ProfilingPolicy","name":"a","uid":"u",)"
      R"("generation":1,"state":"Hovering"},{"name":"b"},{"kind":"ProfilingPolicy",)"
      R"("name":"c","uid":"w","generation":2,"state":"Running"}]})");
  ASSERT_TRUE(read);
  ASSERT_THAT(read->policies, SizeIs(1));
  EXPECT_EQ(read->policies[0].name, "c");
  EXPECT_EQ(read->policies[0].generation, 2);
  EXPECT_FALSE(ReadBack("{}"));
}

}  // namespace
}  // namespace firetower::k8s
