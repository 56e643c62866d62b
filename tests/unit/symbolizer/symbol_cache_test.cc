// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/symbol_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace firetower::symbolizer {
namespace {

using State = SymbolCache::State;

std::shared_ptr<const SymbolTable> TableOf(size_t bytes) {
  return std::make_shared<const SymbolTable>(
      0, std::vector<LoadSegment>{}, std::vector<SymbolTable::Range>{}, std::string(bytes, 'x'));
}

TEST(SymbolCache, FindsWhatWasInserted) {
  SymbolCache cache;
  auto table = TableOf(100);
  EXPECT_EQ(cache.Find("a").state, State::kMiss);
  cache.Insert("a", table);
  EXPECT_EQ(cache.Find("a").table, table);
  EXPECT_EQ(cache.counters().hits, 1u);
  EXPECT_EQ(cache.counters().misses, 1u);
  cache.Erase("a");
  EXPECT_EQ(cache.Find("a").state, State::kMiss);
  EXPECT_EQ(cache.counters().bytes, 0u);
}

TEST(SymbolCache, EvictsTheLeastRecentlyUsedUnderItsBudget) {
  SymbolCache cache(10'000);
  for (const char* key : {"a", "b", "c"}) cache.Insert(key, TableOf(2500));
  cache.Find("a");
  cache.Insert("d", TableOf(2500));
  EXPECT_EQ(cache.Find("a").state, State::kHit);
  EXPECT_EQ(cache.Find("b").state, State::kMiss);
  EXPECT_EQ(cache.Find("c").state, State::kHit);
  EXPECT_EQ(cache.counters().evictions, 1u);
  EXPECT_LE(cache.counters().bytes, 10'000u);
}

TEST(SymbolCache, ATableLivesWhileItsReaderHoldsIt) {
  SymbolCache cache(5000);
  cache.Insert("a", TableOf(4000));
  auto held = cache.Find("a").table;
  cache.Insert("b", TableOf(4000));
  EXPECT_EQ(cache.Find("a").state, State::kMiss);
  EXPECT_GT(held->bytes(), 4000u);
}

TEST(SymbolCache, CountsEveryByteOnceThroughReplacementAndErasure) {
  SymbolCache cache;
  cache.Insert("a", TableOf(1000));
  size_t one = cache.counters().bytes;
  cache.Insert("a", TableOf(1000));
  EXPECT_EQ(cache.counters().bytes, one);
  cache.InsertNegative("a");
  EXPECT_LT(cache.counters().bytes, one);
  EXPECT_EQ(cache.counters().tables, 0u);
  EXPECT_EQ(cache.counters().negatives, 1u);
  cache.Insert("a", TableOf(1000));
  EXPECT_EQ(cache.counters().bytes, one);
  EXPECT_EQ(cache.counters().negatives, 0u);
}

TEST(SymbolCache, RemembersFailuresUpToACap) {
  SymbolCache cache;
  for (size_t i = 0; i <= SymbolCache::kMaxNegativeEntries; ++i) {
    cache.InsertNegative("key" + std::to_string(i));
  }
  EXPECT_EQ(cache.Find("key0").state, State::kMiss);
  EXPECT_EQ(cache.Find("key1").state, State::kNegative);
  EXPECT_EQ(cache.Find("key1").table, nullptr);
  EXPECT_EQ(cache.counters().negatives, SymbolCache::kMaxNegativeEntries);
}

TEST(SymbolCache, FailuresDoNotPushTablesOut) {
  SymbolCache cache(1'000'000);
  cache.Insert("table", TableOf(500'000));
  for (int i = 0; i < 10'000; ++i) cache.InsertNegative("key" + std::to_string(i));
  EXPECT_EQ(cache.Find("table").state, State::kHit);
}

TEST(SymbolCache, ATableLargerThanTheBudgetIsNotLoadedAgainAndAgain) {
  SymbolCache cache(5000);
  cache.Insert("small", TableOf(1000));
  cache.Insert("big", TableOf(6000));
  EXPECT_EQ(cache.Find("big").state, State::kNegative);
  EXPECT_EQ(cache.Find("small").state, State::kHit);
  EXPECT_EQ(cache.counters().too_large, 1u);
}

TEST(SymbolCache, ShrinksToANewBudget) {
  SymbolCache cache;
  for (int i = 0; i < 100; ++i) cache.Insert(std::to_string(i), TableOf(10'000));
  cache.SetBudget(50'000);
  EXPECT_LE(cache.counters().bytes, 50'000u);
  EXPECT_EQ(cache.Find("99").state, State::kHit);
  cache.SetBudget(0);
  EXPECT_EQ(cache.counters().bytes, 0u);
}

TEST(SymbolCache, HoldsItsBudgetUnderThreads) {
  SymbolCache cache(100'000);
  std::atomic<uint64_t> lookups{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5000; ++i) {
        std::string key = std::to_string((i * (t + 1)) % 50);
        ++lookups;
        if (cache.Find(key).state == State::kMiss) cache.Insert(key, TableOf(5000));
        if (i % 100 == 0) cache.InsertNegative(key);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  auto counters = cache.counters();
  EXPECT_EQ(counters.hits + counters.misses, lookups.load());
  EXPECT_LE(counters.bytes, 100'000u);
}

TEST(FileKey, TellsFilesAndVersionsApart) {
  EXPECT_NE(FileKey(1, 2, 3), FileKey(1, 2, 4));
  EXPECT_NE(FileKey(1, 2, 3), FileKey(1, 3, 3));
  EXPECT_NE(FileKey(1, 2, 3), FileKey(2, 2, 3));
}

}  // namespace
}  // namespace firetower::symbolizer
