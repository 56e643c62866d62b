// SPDX-License-Identifier: Apache-2.0
#include "service/metrics/label_text.h"

#include <gtest/gtest.h>

namespace firetower::service {
namespace {

TEST(AppendLabelValue, EscapesWhatTheFormatsEscape) {
  std::string out;
  AppendLabelValue(out, "a\\b\"c\nd\te");
  EXPECT_EQ(out, "a\\\\b\\\"c\\nd\te");
}

TEST(AppendLabelValue, IsAlwaysUtf8) {
  std::string out;
  AppendLabelValue(out, "f\xff\xc3\xa9");
  EXPECT_EQ(out, "f\xef\xbf\xbd\xc3\xa9");  // U+FFFD, and the character after it whole
}

}  // namespace
}  // namespace firetower::service
