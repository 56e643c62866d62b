// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/resolution.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/key.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::kSecondNs;
using ::firetower::testing::Row;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr int64_t kHour = 1'763'701'200;  // 2025-11-21 05:00:00 UTC
constexpr int64_t kWindowSamples = 10;

CatalogEntry EntryAt(int64_t start_s, int64_t seconds, int64_t samples,
                     const std::string& run = "abcd1234", const std::string& container = "web") {
  CatalogEntry one;
  one.bundle = *BuildKey(BundleKey{.cluster = "home",
                                   .start_s = start_s,
                                   .seconds = seconds,
                                   .node = "node-1",
                                   .run = run,
                                   .rolled_up = seconds > 60});
  one.entry.row = Row("shop", "cart-1", container, start_s, samples);
  return one;
}

// A window a minute of two hours from kHour on, and their roll-ups as far as asked for.
std::vector<CatalogEntry> TwoHours(bool tens, bool hours) {
  std::vector<CatalogEntry> entries;
  for (int64_t at = 0; at < 7200; at += 60)
    entries.push_back(EntryAt(kHour + at, 60, kWindowSamples));
  for (int64_t at = 0; tens && at < 7200; at += 600)
    entries.push_back(EntryAt(kHour + at, 600, 10 * kWindowSamples));
  for (int64_t at = 0; hours && at < 7200; at += 3600)
    entries.push_back(EntryAt(kHour + at, 3600, 60 * kWindowSamples));
  return entries;
}

// Returns the chosen entries as "<seconds since kHour>+<length>".
std::vector<std::string> Chosen(std::vector<CatalogEntry> entries, int64_t from_s, int64_t to_s) {
  // A query finds no entries outside its range.
  std::erase_if(entries, [&](const CatalogEntry& one) {
    const BundleKey key = *ParseBundleKey(one.bundle);
    return key.start_s >= kHour + to_s || key.start_s + key.seconds <= kHour + from_s;
  });
  FoundEntries found;
  for (CatalogEntry& one : entries) {
    BundleKey key = *ParseBundleKey(one.bundle);
    found.push_back(std::make_unique<FoundEntry>(FoundEntry{std::move(one), std::move(key)}));
  }
  std::vector<std::string> chosen;
  for (const auto& one : ChooseResolution(std::move(found), (kHour + from_s) * kSecondNs,
                                          (kHour + to_s) * kSecondNs)) {
    chosen.push_back(fmt::format("{}+{}", one->key.start_s - kHour, one->key.seconds));
  }
  return chosen;
}

TEST(ChooseResolution, TakesWindowsWhereThereIsNoRollUp) {
  EXPECT_THAT(Chosen(TwoHours(false, false), 0, 3600), SizeIs(60));
}

TEST(ChooseResolution, TakesTheCoarsestThatFits) {
  EXPECT_THAT(Chosen(TwoHours(true, true), 0, 3600), ElementsAre("0+3600"));
  EXPECT_THAT(Chosen(TwoHours(true, true), 0, 7200), ElementsAre("0+3600", "3600+3600"));
  EXPECT_THAT(Chosen(TwoHours(true, false), 0, 1200), ElementsAre("0+600", "600+600"));
}

TEST(ChooseResolution, FillsTheEdgesWithFinerOnes) {
  EXPECT_THAT(Chosen(TwoHours(true, true), 3600 - 660, 7200 + 0),
              ElementsAre("2940+60", "3000+600", "3600+3600"));
  EXPECT_THAT(Chosen(TwoHours(true, true), 570, 1230), ElementsAre("540+60", "1200+60", "600+600"))
      << "windows that overlap the edge belong to the answer whole";
}

TEST(ChooseResolution, TakesTheWindowsOfARollUpThatLacksSome) {
  std::vector<CatalogEntry> entries = TwoHours(true, false);
  for (CatalogEntry& one : entries) {
    if (one.bundle.find(fmt::format("{}-600", kHour)) != std::string::npos)
      one.entry.row.samples -= 1;
  }
  const std::vector<std::string> chosen = Chosen(entries, 0, 1200);
  EXPECT_THAT(chosen, SizeIs(11));
  EXPECT_EQ(chosen.back(), "600+600");
}

TEST(ChooseResolution, TakesARollUpOfWindowsThatNeverCame) {
  std::vector<CatalogEntry> entries = TwoHours(true, false);
  entries.erase(entries.begin() + 3);
  EXPECT_THAT(Chosen(entries, 0, 600), ElementsAre("0+600"));
}

// A daemon that was killed left windows, and the next one rolls up its own.
TEST(ChooseResolution, ARollUpStandsForItsOwnRunAlone) {
  std::vector<CatalogEntry> entries = TwoHours(true, false);
  entries.push_back(EntryAt(kHour + 30, 60, 7, "zzzz9999"));
  EXPECT_THAT(Chosen(entries, 0, 600), ElementsAre("0+600", "30+60"));
}

TEST(ChooseResolution, ARollUpStandsForItsOwnContainerAlone) {
  std::vector<CatalogEntry> entries = TwoHours(true, false);
  entries.push_back(EntryAt(kHour, 60, 7, "abcd1234", "db"));
  EXPECT_THAT(Chosen(entries, 0, 600), ElementsAre("0+600", "0+60"));
}

// The ten minutes that lack nothing replace the hour that lacks something.
TEST(ChooseResolution, TakesTheNextFinerOne) {
  std::vector<CatalogEntry> entries = TwoHours(true, true);
  for (CatalogEntry& one : entries) {
    if (one.bundle.find(fmt::format("{}-3600", kHour)) != std::string::npos)
      one.entry.row.samples -= 1;
  }
  EXPECT_THAT(Chosen(entries, 0, 3600), SizeIs(6));
}

}  // namespace
}  // namespace firetower::store
