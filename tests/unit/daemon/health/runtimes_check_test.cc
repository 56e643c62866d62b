// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/runtimes_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;

TEST(RuntimesCheck, SaysWhatWasSeen) {
  EXPECT_EQ(RuntimesCheck(std::nullopt).status, CheckStatus::kOk);
  EXPECT_THAT(RuntimesCheck(RuntimeFacts{}).message, HasSubstr("no interpreter"));
  RuntimeFacts facts;
  facts.window = {{"CPython 3.11", {90, 6, 4, 0}}, {"CPython 3.12", {1, 0, 0, 0}}};
  const Check check = RuntimesCheck(facts);
  EXPECT_EQ(check.status, CheckStatus::kOk);
  EXPECT_EQ(check.message,
            "CPython 3.11: functions by name in 90.0% of 100 samples; CPython 3.12: functions by "
            "name in 100.0% of 1 samples");
}

TEST(RuntimesCheck, WarnsOfWhatIsNotSupported) {
  RuntimeFacts facts;
  facts.window = {{"CPython 3.7", {0, 0, 0, 12}}};
  facts.unsupported = {{"CPython 3.7", "/usr/bin/python3.7", "its functions have no names", 12}};
  Check check = RuntimesCheck(facts);
  EXPECT_EQ(check.status, CheckStatus::kWarn);
  EXPECT_EQ(check.message,
            "CPython 3.7 (/usr/bin/python3.7): its functions have no names (12 samples)");
  EXPECT_THAT(check.fix, HasSubstr("docs/hotspots.md"));
  facts.unsupported.resize(7, facts.unsupported[0]);
  EXPECT_THAT(RuntimesCheck(facts).message, HasSubstr("and 3 more"));
}

}  // namespace
}  // namespace firetower::daemon
