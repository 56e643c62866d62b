// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/diagnosis/profiles.h"

namespace firetower::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Verdict JudgeAll(const profile::Profile& profile) { return Judge(profile, 1, Domains(profile)); }

TEST(Judge, SaysWhoseCodeItIsAndWhatIsHottest) {
  const Verdict verdict = JudgeAll(ProfileOf()
                                       .Add({{"main"}, {"serve"}, {"parse"}}, 600)
                                       .Add({{"main"}, {"log"}}, 100)
                                       .Add({{"main"}, {"read"}, {"vfs_read", kKernelModule}}, 300)
                                       .Build());
  EXPECT_EQ(verdict.domain, Domain::kApplication);
  EXPECT_DOUBLE_EQ(verdict.percent, 70);
  EXPECT_DOUBLE_EQ(verdict.percents[static_cast<size_t>(Domain::kKernel)], 30);
  EXPECT_THAT(verdict.rule, HasSubstr("program's own"));
  EXPECT_DOUBLE_EQ(verdict.confidence, 0.9);
  EXPECT_EQ(verdict.function, "parse");
  EXPECT_EQ(verdict.module, "/app/web");
  EXPECT_DOUBLE_EQ(verdict.function_percent, 60);
  ASSERT_EQ(verdict.evidence.size(), 1u);
  EXPECT_THAT(verdict.evidence[0].stack, ElementsAre("main", "serve", "parse"));
}

TEST(Judge, IsLessCertainOfFewSamplesAndOfUnknownCode) {
  const Verdict few = JudgeAll(ProfileOf().Add({{"main"}}, 25).Build());
  EXPECT_DOUBLE_EQ(few.confidence, 0.5);
  const Verdict unknown =
      JudgeAll(ProfileOf().Add({{"main"}}, 700).Add({{"main"}, {"?", "[unknown]"}}, 300).Build());
  EXPECT_DOUBLE_EQ(unknown.confidence, 0.7 * 0.9);
}

TEST(Judge, OfNothingIsUnknown) {
  const Verdict verdict = JudgeAll(ProfileOf().Build());
  EXPECT_EQ(verdict.domain, Domain::kUnknown);
  EXPECT_EQ(verdict.confidence, 0);
}

}  // namespace
}  // namespace firetower::diagnosis
