// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/findings.h"
#include "tests/unit/diagnosis/profiles.h"

namespace firetower::diagnosis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Report Sample() {
  return Diagnose(ProfileOf()
                      .Add({{"main"}, {"nft_do_chain", kKernelModule}}, 700)
                      .Add({{"a`b\n# c"}}, 300)
                      .Build(),
                  1, "cpu");
}

TEST(Report, IsTheSameAfterJson) {
  const std::string json = ToJson(Sample());
  EXPECT_THAT(json, HasSubstr(R"({"version":1,"type":"cpu","unit":"nanoseconds")"));
  EXPECT_THAT(json, HasSubstr(R"("findings":[{"signature":"packet-filter-rules","cause":)"));
  const auto back = ReportFromJson(json);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(ToJson(*back), json);
}

TEST(Report, NoPartOfItIsOneAndNoneThrows) {
  const std::string json = ToJson(Sample());
  for (size_t size = 0; size + 1 < json.size(); ++size)
    EXPECT_FALSE(ReportFromJson(json.substr(0, size))) << size;
  for (const char* wrong : {"[]", "1", "null", "{}", R"({"type":1})"})
    EXPECT_FALSE(ReportFromJson(wrong)) << wrong;
}

TEST(Report, AsMarkdownKeepsNamesInTheirLines) {
  const std::string page = ToMarkdown(Sample(), "cpu{pod=\"web-0\"}");
  EXPECT_THAT(page, HasSubstr("# `cpu{pod=\"web-0\"}`\n"));
  EXPECT_THAT(page, HasSubstr("## 1. packet-filter-rules (70.0 %, confidence 0.96)"));
  EXPECT_THAT(page, HasSubstr("**Verdict: kernel**, 70.0 %"));
  EXPECT_THAT(page, Not(HasSubstr("\n# c")));
}

TEST(Report, AsLinesHasTheVerdictAndTheFirstFindings) {
  const std::vector<std::string> lines = ReportLines(Sample(), 1);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0],
              HasSubstr("diagnosis: kernel, 70.0 %, confidence 0.90; hottest nft_do_chain"));
  EXPECT_THAT(lines[1], HasSubstr("diagnosis: packet-filter-rules, 70.0 %, confidence 0.96: "));
  EXPECT_THAT(lines[1], HasSubstr("; next: "));
  EXPECT_EQ(ReportLines(Sample(), 0).size(), 1u);
  const Report named = Diagnose(ProfileOf().Add({{"a\nb"}}, 300).Build(), 1, "cpu");
  EXPECT_THAT(ReportLines(named, 1)[0], Not(HasSubstr("\n")));
}

TEST(Certainty, FallsWithFewSamplesAndMuchUnknownCode) {
  EXPECT_EQ(Certainty(100, 20), 1);
  EXPECT_EQ(Certainty(25, 0), 0.5);
  EXPECT_EQ(Certainty(0, 0), 0);
  EXPECT_EQ(Certainty(1000, 50), 0.5);
}

TEST(SortFindings, PutsTheSurestFirst) {
  const auto of = [](const char* signature, double confidence, double percent) {
    Finding finding;
    finding.signature = signature;
    finding.confidence = confidence;
    finding.percent = percent;
    return finding;
  };
  std::vector<Finding> findings = {of("b", 0.5, 10), of("a", 0.9, 5), of("c", 0.5, 30)};
  SortFindings(findings);
  EXPECT_EQ(findings[0].signature, "a");
  EXPECT_EQ(findings[1].signature, "c");
}

}  // namespace
}  // namespace firetower::diagnosis
