// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/modules_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;

NameFacts::Loss& LossOf(NameFacts& facts, NameLoss loss) {
  return facts.losses[static_cast<size_t>(loss)];
}

TEST(ModulesCheck, IsOkWhileNothingIsKnown) {
  EXPECT_EQ(ModulesCheck(std::nullopt).status, CheckStatus::kOk);
  EXPECT_THAT(ModulesCheck(std::nullopt).message, HasSubstr("not known yet"));
  NameFacts few{.frames = 10};
  LossOf(few, NameLoss::kDenied) = {.frames = 10, .files = 1, .example = "/bin/app"};
  EXPECT_EQ(ModulesCheck(few).status, CheckStatus::kOk) << "ten frames are chance";
}

TEST(ModulesCheck, SaysWhatIsMissingWithoutAWarningWhereItIsLittle) {
  NameFacts facts{.frames = 1000};
  LossOf(facts, NameLoss::kGone) = {.frames = 30, .files = 4, .example = "/usr/bin/cc1plus"};
  LossOf(facts, NameLoss::kMemory) = {.frames = 50};
  LossOf(facts, NameLoss::kUnmapped) = {.frames = 1};
  const Check check = ModulesCheck(facts);
  EXPECT_EQ(check.name, "modules");
  EXPECT_EQ(check.status, CheckStatus::kOk);
  EXPECT_EQ(check.message,
            "8.1% of the last window's frames have no name, 5.0%: a runtime wrote their code "
            "([jit]); 3.0%: their program ended before its file was read (4 files, for example "
            "/usr/bin/cc1plus)");
  EXPECT_EQ(check.fix, "");
}

TEST(ModulesCheck, WarnsWithTheRemedyOfTheMostFrequentReason) {
  NameFacts facts{.frames = 1000};
  LossOf(facts, NameLoss::kNoSymbol) = {.frames = 150};
  LossOf(facts, NameLoss::kMemory) = {.frames = 60};
  const Check check = ModulesCheck(facts);
  EXPECT_EQ(check.status, CheckStatus::kWarn);
  EXPECT_THAT(check.fix, HasSubstr("--debuginfod-urls"));
}

TEST(ModulesCheck, WarnsOfFilesThatTheKernelRefusesEvenIfTheyAreFew) {
  NameFacts facts{.frames = 1000};
  LossOf(facts, NameLoss::kMemory) = {.frames = 100};
  LossOf(facts, NameLoss::kDenied) = {.frames = 20, .files = 1, .example = "/opt/app"};
  const Check check = ModulesCheck(facts);
  EXPECT_EQ(check.status, CheckStatus::kWarn);
  EXPECT_THAT(check.message, HasSubstr("2.0%: the kernel refuses their file (/opt"));
  EXPECT_THAT(check.fix, HasSubstr("capabilities"));
}

TEST(ModulesCheck, NamesNoReasonWhereAllFramesHaveNames) {
  const Check check = ModulesCheck(NameFacts{.frames = 1000});
  EXPECT_EQ(check.status, CheckStatus::kOk);
  EXPECT_EQ(check.message, "0.0% of the last window's frames have no name");
}

}  // namespace
}  // namespace firetower::daemon
