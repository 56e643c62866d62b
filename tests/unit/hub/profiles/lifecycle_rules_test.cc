// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/lifecycle_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace firetower::hub {
namespace {

using ::testing::HasSubstr;

Result<std::string> RulesFor(std::vector<std::string> arguments) {
  arguments.emplace_back("--print-lifecycle-rules");
  ASSIGN_OR_RETURN(const CommandLine line, ParseCommandLine(arguments));
  EXPECT_EQ(line.action, CommandAction::kPrintLifecycleRules);
  return LifecycleRules(line.config);
}

TEST(HubLifecycleRules, AreOfTheStoreTheClusterAndTheAges) {
  const auto rules = RulesFor({"--store=s3://profiles/team?endpoint=http://127.0.0.1:9000",
                               "--cluster=Prod_1", "--retention-short=36h"});
  ASSERT_TRUE(rules) << rules.error().message();
  // Keys have it in lower case.
  EXPECT_THAT(*rules, HasSubstr("\"Filter\": {\"Prefix\": \"team/v1/short/prod_1/bundle/\"},\n"
                                "      \"Expiration\": {\"Days\": 2}"));
}

TEST(HubLifecycleRules, AreOfBucketsOnly) {
  for (const auto& arguments :
       {std::vector<std::string>{}, std::vector<std::string>{"--store=file:///var/lib/x"}}) {
    const auto rules = RulesFor(arguments);
    ASSERT_FALSE(rules);
    EXPECT_EQ(rules.error().code(), ErrorCode::kInvalid);
    EXPECT_THAT(rules.error().message(), HasSubstr("--store to s3://BUCKET"));
  }
}

}  // namespace
}  // namespace firetower::hub
