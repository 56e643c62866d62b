// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "net/url.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PoliciesTest : public ::testing::Test {
 protected:
  net::HttpResponse Get(const std::string& query = "") {
    net::HttpRequest request;
    request.method = "GET";
    request.path = "/api/v1/policies";
    const auto params = net::DecodeQuery(query);
    EXPECT_TRUE(params);
    request.params = *params;
    return fixture_.api().Serve(request);
  }
  std::vector<std::string> Names(const std::string& query = "") {
    const net::HttpResponse response = Get(query);
    EXPECT_EQ(response.status, 200) << response.body;
    std::vector<std::string> names;
    const auto reply = nlohmann::json::parse(response.body);
    for (const auto& row : reply.at("policies")) names.push_back(row.at("name"));
    return names;
  }
  Fixture fixture_;
};

TEST_F(PoliciesTest, TellsHowEachIsTheWorstFirst) {
  EXPECT_THAT(Names(), ElementsAre("nodes", "checkout"));
  const auto rows = nlohmann::json::parse(Get().body).at("policies");
  EXPECT_EQ(rows[0].at("state"), "degraded");
  EXPECT_EQ(rows[0].at("kind"), "ClusterProfilingPolicy");
  EXPECT_EQ(rows[0].at("pods_profiled"), 30);
  EXPECT_EQ(rows[0].at("failures")[0].at("message"), "CAP_SYS_PTRACE is missing");
  EXPECT_EQ(rows[0].at("last_capture_ms"), 1782899940000);
  EXPECT_EQ(rows[1].at("types"), nlohmann::json({"CPU", "Lock"}));
  EXPECT_EQ(rows[1].at("namespace"), "shop");
}

TEST_F(PoliciesTest, ASelectorOfANamespaceHasItsOwnAndTheClusters) {
  EXPECT_THAT(Names("q={namespace=\"shop\"}"), ElementsAre("nodes", "checkout"));
  EXPECT_THAT(Names("q={namespace=\"shop\",pod=\"web-0\"}"), ElementsAre("nodes", "checkout"));
  EXPECT_THAT(Names("q={namespace=\"bank\"}"), ElementsAre("nodes"));
}

TEST_F(PoliciesTest, WhoMayReadOneNamespaceSeesItsPoliciesAlone) {
  fixture_.Change([](Fixture::Answers& answers) { answers.only_namespace = "shop"; });
  EXPECT_THAT(Names(), ElementsAre("checkout"));
  fixture_.Change([](Fixture::Answers& answers) { answers.only_namespace = "bank"; });
  EXPECT_THAT(Names(), IsEmpty());
  fixture_.Change([](Fixture::Answers& answers) {
    answers.refusal = Error(ErrorCode::kPermission, "you may not");
  });
  EXPECT_EQ(Get().status, 403);
}

TEST_F(PoliciesTest, RefusesWrongQuestions) {
  EXPECT_EQ(Get("q={").status, 400);
  EXPECT_EQ(Get("names=x").status, 400);
}

TEST_F(PoliciesTest, HostileTextStaysValidJson) {
  fixture_.Change(
      [](Fixture::Answers& answers) { answers.policies[0].message = "\xff\"<script>"; });
  EXPECT_TRUE(nlohmann::json::accept(Get().body));
  EXPECT_THAT(Get().body, HasSubstr("<script>"));
}

}  // namespace
}  // namespace firetower::query
