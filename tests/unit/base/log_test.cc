// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

namespace firetower {
namespace {

constexpr int64_t kWall = 1'700'000'000'123'000'000;

TEST(Log, TextQuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(FormatLogLine(LogFormat::kText, LogLevel::kWarn, kWall, "two words",
                          {{"plain", 5}, {"spaced", "a b"}, {"broken", "x\ny"}}),
            "time=2023-11-14T22:13:20.123Z level=warn msg=\"two words\" plain=5 spaced=\"a b\" "
            "broken=\"x\\ny\"");
}

TEST(Log, JsonStaysJsonWhateverTheFieldsHold) {
  EXPECT_EQ(FormatLogLine(LogFormat::kJson, LogLevel::kInfo, kWall, "m", {{"k", "\"\xff"}}),
            "{\"time\":\"2023-11-14T22:13:20.123Z\",\"level\":\"info\",\"msg\":\"m\","
            "\"k\":\"\\\"\xEF\xBF\xBD\"}");
}

}  // namespace
}  // namespace firetower
