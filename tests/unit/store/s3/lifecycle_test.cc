// SPDX-License-Identifier: Apache-2.0
#include "store/s3/lifecycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "store/key.h"

namespace firetower::store::s3 {
namespace {

using ::testing::Contains;
using ::testing::Pair;
using ::testing::SizeIs;

// Days of expiration by prefix.
std::map<std::string, int> DaysOf(const std::string& text) {
  std::map<std::string, int> days;
  const nlohmann::json rules = nlohmann::json::parse(text).at("Rules");
  for (const auto& rule : rules) {
    EXPECT_EQ(rule.at("Status").get<std::string>(), "Enabled");
    if (!rule.contains("Expiration")) continue;
    const auto prefix = rule.at("Filter").at("Prefix").get<std::string>();
    days[prefix] = rule.at("Expiration").at("Days").get<int>();
  }
  return days;
}

TEST(LifecycleRules, HaveAPrefixForEachClassAndKind) {
  const auto days = DaysOf(LifecycleRulesJson("prod/", "home", {}));
  EXPECT_THAT(days, SizeIs(12));
  EXPECT_THAT(days, Contains(Pair("prod/v1/short/home/bundle/", 3)));
  EXPECT_THAT(days, Contains(Pair("prod/v1/standard/home/rollup-", 14)));
  EXPECT_THAT(days, Contains(Pair("prod/v1/long/home/capture/", 90)));
  EXPECT_THAT(days, Contains(Pair("prod/v1/long/home/catalog/", 91)));
}

// A rule of another prefix would keep everything, silently.
TEST(LifecycleRules, FitTheKeysThereAre) {
  const auto days = DaysOf(LifecycleRulesJson("", "home", {}));
  const BundleKey bundle{.cluster = "home", .seconds = 60, .node = "n", .run = "abcd1234"};
  BundleKey roll_up = bundle;
  roll_up.seconds = 3600;
  roll_up.rolled_up = true;
  const CaptureKey capture{.cluster = "home",
                           .namespace_name = "shop",
                           .pod = "web-0",
                           .seconds = 10,
                           .container = "web",
                           .type = "cpu",
                           .id = "0123456789ab"};
  const CatalogKey catalog{.cluster = "home", .seconds = 300, .hash = "0123456789abcdef"};
  for (const auto& key :
       {BuildKey(bundle), BuildKey(roll_up), BuildKey(capture), BuildKey(catalog)}) {
    ASSERT_TRUE(key) << key.error().message();
    const auto fits = std::count_if(days.begin(), days.end(),
                                    [&](const auto& rule) { return key->starts_with(rule.first); });
    EXPECT_EQ(fits, 1) << *key;
  }
}

TEST(LifecycleRules, RoundDaysUpAndLeaveOutWhatIsKeptForEver) {
  const RetentionPolicy policy{.short_seconds = 3600, .standard_seconds = 0};
  const auto days = DaysOf(LifecycleRulesJson("", "home", policy));
  EXPECT_THAT(days, SizeIs(8));
  EXPECT_THAT(days, Contains(Pair("v1/short/home/bundle/", 1)));
  EXPECT_THAT(days, Contains(Pair("v1/short/home/catalog/", 2)));
}

TEST(LifecycleRules, EndUploadsThatWereKilled) {
  const nlohmann::json rules =
      nlohmann::json::parse(LifecycleRulesJson("p/", "home", {})).at("Rules");
  const auto& last = rules.back();
  EXPECT_EQ(last.at("Filter").at("Prefix").get<std::string>(), "p/v1/");
  EXPECT_EQ(last.at("AbortIncompleteMultipartUpload").at("DaysAfterInitiation").get<int>(), 7);
}

}  // namespace
}  // namespace firetower::store::s3
