// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

namespace firetower {
namespace {

TEST(JsonEscape, EscapesQuotesBackslashesAndControls) {
  EXPECT_EQ(JsonEscape("a\"b\\c\n\x01"), "a\\\"b\\\\c\\n\\u0001");
}

TEST(ToValidUtf8, KeepsEveryLengthOfSequence) { EXPECT_EQ(ToValidUtf8("aé€😀"), "aé€😀"); }

TEST(ToValidUtf8, ReplacesOverlongSurrogateTruncatedAndStrayBytes) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(ToValidUtf8("\xC0\xAF"), r + r);
  EXPECT_EQ(ToValidUtf8("\xED\xA0\x80"), r + r + r);
  EXPECT_EQ(ToValidUtf8("x\xE2\x82"), "x" + r + r);
  EXPECT_EQ(ToValidUtf8("\xF4\x90\x80\x80y"), r + r + r + r + "y");
}

}  // namespace
}  // namespace firetower
