// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/keeper/catalog_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/store/catalog/catalog_cluster.h"

namespace firetower::store {
namespace {

using ::firetower::testing::Ask;
using ::firetower::testing::CatalogsIn;
using ::firetower::testing::CountOf;
using ::firetower::testing::FoldedOf;
using ::firetower::testing::kHour;
using ::firetower::testing::MortalStore;
using ::firetower::testing::PutBundle;
using ::firetower::testing::PutWindows;
using ::firetower::testing::RowsFound;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;

// A keeper, as a process that may be killed has one.
struct Process {
  Process(ObjectStore& store, const Clock& clock, const RecentRowsLimits& limits = {})
      : recent(limits), keeper(store, recent, clock) {}

  RecentRows recent;
  CatalogKeeper keeper;
};

class CatalogKeeperTest : public ::testing::Test {
 protected:
  CatalogKeeperTest() { SetTime(kHour); }

  void SetTime(int64_t unix_s) { clock_.Advance(unix_s * kNsPerSecond - clock_.WallNs()); }
  void Look(Process& process, bool leads = true) {
    const Status looked = process.keeper.Look(leads);
    EXPECT_TRUE(looked) << looked.error().message();
  }
  // Each round looks at one of 24 hours, from an hour after the last time on.
  void LookAtTheLastDay(Process& process) {
    for (int i = 0; i < 24 + 60 + 24; ++i) {
      clock_.Advance(60 * kNsPerSecond);
      Look(process);
    }
  }
  // By the catalogs alone: a bundle that has none is an error.
  std::vector<std::string> Catalogued(const Query& query) const {
    const CatalogIndex index(store_, nullptr, {.max_listed_bundles = 0});
    return RowsFound({store_, &index}, query);
  }
  std::vector<std::string> Catalogued(int64_t from_s, int64_t to_s) const {
    return Catalogued(Ask("", from_s, to_s));
  }
  // Returns the rows that are found without any catalogs.
  std::vector<std::string> Walked(int64_t from_s, int64_t to_s) const {
    return RowsFound(store_, Ask("", from_s, to_s));
  }
  // One writes the catalog of the hour's first five minutes, the other sees it.
  void CatalogAnInterval(Process& leader, Process& follower) {
    PutWindows(store_, kHour, kHour + 300);
    SetTime(kHour + 600);
    Look(leader);
    Look(follower, /*leads=*/false);
    ASSERT_EQ(CountOf(store_, "-300/0of1"), 1u);
  }
  static bool IsRows(const std::pair<const std::string, std::string>& object) {
    return object.first.find("-300/0of1") != std::string::npos;
  }
  // The hour that begins at kHour, with its roll-ups, is over.
  void PutWholeHour() {
    PutWindows(store_, kHour, kHour + 3600);
    for (const char* node : {"node-1", "node-2"}) {
      for (int64_t at = kHour; at < kHour + 3600; at += 600) PutBundle(store_, node, at, 600);
      PutBundle(store_, node, kHour, 3600);
    }
    SetTime(kHour + 3600 + 600);
  }

  MortalStore store_;
  FakeClock clock_{kNsPerSecond, 0};
};

TEST_F(CatalogKeeperTest, WritesACatalogFiveMinutesAfterItsIntervalEnds) {
  Process process(store_, clock_);
  PutWindows(store_, kHour, kHour + 600);
  SetTime(kHour + 599);
  Look(process);
  EXPECT_THAT(CatalogsIn(store_), IsEmpty());
  EXPECT_EQ(process.recent.rows(), 2u * 10 * 3);
  SetTime(kHour + 600);
  Look(process);
  EXPECT_THAT(CatalogsIn(store_), ElementsAre("1763701200-300/0of1", "1763701200-300/bundles"));
  EXPECT_EQ(process.recent.rows(), 2u * 5 * 3) << "what a catalog holds is not kept";
  EXPECT_THAT(Catalogued(kHour, kHour + 240), SizeIs(2 * 4 * 3));
  EXPECT_EQ(Catalogued(kHour, kHour + 240), Walked(kHour, kHour + 240));
}

TEST_F(CatalogKeeperTest, WritesNothingWhereNothingIs) {
  Process process(store_, clock_);
  PutBundle(store_, "node-1", kHour + 86'400);
  const size_t before = store_.objects.size();
  for (int i = 0; i < 100; ++i) {
    clock_.Advance(60 * kNsPerSecond);
    Look(process);
  }
  EXPECT_EQ(store_.objects.size(), before);
}

TEST_F(CatalogKeeperTest, MakesOneOfAnHour) {
  PutWholeHour();
  Process process(store_, clock_);
  Look(process);
  EXPECT_EQ(CountOf(store_, "-3600/0of1"), 1u);
  EXPECT_EQ(process.recent.rows(), 0u);
  EXPECT_EQ(process.keeper.figures().hours_merged, 1u);
  EXPECT_EQ(process.keeper.figures().bundles_read, 2u * (60 + 6 + 1));
  EXPECT_EQ(Catalogued(kHour, kHour + 3600), Walked(kHour, kHour + 3600));
  EXPECT_THAT(Catalogued(kHour, kHour + 3600), SizeIs(2 * 60 * 3));
}

TEST_F(CatalogKeeperTest, HoldsRollUpsToo) {
  PutWholeHour();
  Process process(store_, clock_);
  Look(process);
  const CatalogIndex index(store_, nullptr, {.max_listed_bundles = 0});
  const Query query = Ask("{workload=\"cart\",namespace=\"shop\"}", kHour, kHour + 3600);
  store_.read.clear();
  // 60 windows of two nodes, 10 samples of web and 2 of sidecar in each.
  EXPECT_EQ(testing::FoldedOf({store_, &index}, query), "main;sidecar 240\nmain;web 1200\n");
  EXPECT_THAT(store_.read, Not(Contains(HasSubstr("/bundle/")))) << "an hour's roll-up is there";
  EXPECT_THAT(store_.read, Not(Contains(HasSubstr("/rollup-600/"))));
}

TEST_F(CatalogKeeperTest, DeletesWhatAnHourReplacesAnHourLater) {
  PutWholeHour();
  Process process(store_, clock_);
  Look(process);
  const size_t rows_before = CountOf(store_, "-300/0of1") + CountOf(store_, "-600/0of1");
  EXPECT_EQ(rows_before, 18u);
  Look(process);
  clock_.Advance(3599 * kNsPerSecond);
  Look(process);
  EXPECT_EQ(CountOf(store_, "-300/0of1") + CountOf(store_, "-600/0of1"), 18u);
  clock_.Advance(2 * kNsPerSecond);
  Look(process);
  EXPECT_EQ(CountOf(store_, "-300/0of1") + CountOf(store_, "-600/0of1"), 0u);
  EXPECT_EQ(CountOf(store_, "-3600/late-0of1"), 0u);
  EXPECT_EQ(process.keeper.figures().catalogs_deleted, 19u);
  EXPECT_EQ(Catalogued(kHour, kHour + 3600), Walked(kHour, kHour + 3600));
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(3600 * kNsPerSecond);
    Look(process);
  }
  EXPECT_EQ(process.keeper.figures().bundles_read, 134u) << "nothing is read a second time";
  EXPECT_EQ(process.keeper.figures().hours_merged, 1u);
}

// At each of its writes and deletions in turn; another one takes over.
TEST_F(CatalogKeeperTest, MayBeKilledAtAnyWrite) {
  PutWholeHour();
  const auto objects = store_.objects;
  const std::vector<std::string> rows = Walked(kHour, kHour + 3600);
  const int64_t now_s = clock_.WallNs() / kNsPerSecond;
  int killed = 0;
  for (int writes = 0;; ++writes) {
    store_.objects = objects;
    SetTime(now_s);
    bool died = false;
    {
      Process process(store_, clock_);
      store_.writes_left = writes;
      died = !process.keeper.Look(true);
      for (int i = 0; i < 2 && !died; ++i) {
        clock_.Advance(3601 * kNsPerSecond);
        died = !process.keeper.Look(true);
      }
    }
    store_.writes_left.reset();
    const CatalogIndex index(store_);
    ASSERT_EQ(RowsFound({store_, &index}, Ask("", kHour, kHour + 3600)), rows)
        << "killed at write " << writes;
    Process next(store_, clock_);
    for (int i = 0; i < 3; ++i) {
      Look(next);
      clock_.Advance(3601 * kNsPerSecond);
    }
    ASSERT_EQ(Catalogued(kHour, kHour + 3600), rows) << "killed at write " << writes;
    ASSERT_EQ(CountOf(store_, "-3600/0of1"), 1u) << "killed at write " << writes;
    if (!died) break;
    ++killed;
  }
  // 12 and 6 intervals and the hour's roll-ups with a list each, the hour, and 19 deletions.
  EXPECT_EQ(killed, 2 * 19 + 1 + 19);
}

TEST_F(CatalogKeeperTest, TwoAtOnceDoNoHarm) {
  Process one(store_, clock_), other(store_, clock_);
  for (int64_t minute = 0; minute < 75; ++minute) {
    SetTime(kHour + 60 * minute);
    // The other one sees the last bundle of each round only.
    if (minute >= 2 && minute < 62) PutBundle(store_, "node-1", kHour + 60 * (minute - 2));
    Look(one);
    if (minute >= 2 && minute < 62) PutBundle(store_, "node-2", kHour + 60 * (minute - 2));
    Look(other);
  }
  EXPECT_EQ(Catalogued(kHour, kHour + 3600), Walked(kHour, kHour + 3600));
  EXPECT_THAT(Catalogued(kHour, kHour + 3600), SizeIs(2 * 60 * 3));
  EXPECT_EQ(one.recent.rows() + other.recent.rows(), 0u);
}

TEST_F(CatalogKeeperTest, WhoDoesNotLeadReadsAndWritesNothing) {
  Process leader(store_, clock_), follower(store_, clock_);
  PutWindows(store_, kHour, kHour + 300);
  SetTime(kHour + 700);
  const size_t before = store_.objects.size();
  Look(follower, false);
  EXPECT_EQ(store_.objects.size(), before);
  EXPECT_EQ(follower.recent.rows(), 2u * 5 * 3);
  Look(leader);
  EXPECT_GT(store_.objects.size(), before);
  EXPECT_EQ(follower.recent.rows(), 2u * 5 * 3);
  Look(follower, false);
  EXPECT_EQ(follower.recent.rows(), 0u) << "the leader's catalog has them";
}

TEST_F(CatalogKeeperTest, WhoDoesNotLeadForgetsWhatNobodyWrote) {
  Process follower(store_, clock_);
  PutWindows(store_, kHour, kHour + 300);
  SetTime(kHour + 700);
  Look(follower, false);
  EXPECT_GT(follower.recent.rows(), 0u);
  SetTime(kHour + 4 * 3600);
  Look(follower, false);
  EXPECT_EQ(follower.recent.rows(), 0u);
}

// A quiet store costs a few requests a minute, however many intervals an hour has.
TEST_F(CatalogKeeperTest, ListsLittleWhereNothingIs) {
  PutBundle(store_, "node-1", kHour - 10 * 86'400);
  Process process(store_, clock_);
  Look(process);
  store_.lists = 0;
  for (int i = 0; i < 60; ++i) {
    clock_.Advance(60 * kNsPerSecond);
    Look(process);
  }
  // Each minute, for each hour of the last day, and for twelve before that.
  EXPECT_LE(store_.lists, 60 * 4 + 24 * 7 + 12 * 4);
}

TEST_F(CatalogKeeperTest, FindsLateBundlesOfTheLastDay) {
  PutWholeHour();
  Process process(store_, clock_);
  Look(process);
  SetTime(kHour + 20 * 3600);
  Look(process);
  PutBundle(store_, "node-3", kHour + 120);
  PutBundle(store_, "node-3", kHour + 180);
  LookAtTheLastDay(process);
  EXPECT_EQ(Catalogued(kHour, kHour + 3600), Walked(kHour, kHour + 3600));
  EXPECT_THAT(Catalogued(kHour, kHour + 3600), SizeIs(2 * 60 * 3 + 2 * 3));
  EXPECT_EQ(CountOf(store_, "-300/late-0of1"), 1u);
  EXPECT_EQ(process.keeper.figures().hours_merged, 1u);
}

// The node was cut off for days.
TEST_F(CatalogKeeperTest, FindsLateBundlesOfDaysBefore) {
  PutWholeHour();
  Process process(store_, clock_);
  Look(process);
  SetTime(kHour + 72 * 3600);
  Look(process);
  PutBundle(store_, "node-3", kHour + 120);
  PutBundle(store_, "node-3", kHour + 180);
  PutBundle(store_, "node-3", kHour, 600);
  const auto look_for = [&](int64_t hours) {
    for (int64_t i = 0; i < hours * 60; ++i) {
      clock_.Advance(60 * kNsPerSecond);
      Look(process);
    }
  };
  // 47 hours and some stand between a day ago and then, and twelve of them are looked at an hour.
  look_for(3);
  EXPECT_THAT(Catalogued(kHour, kHour + 3600), SizeIs(2 * 60 * 3)) << "their turn is not yet";
  look_for(2);
  EXPECT_EQ(Catalogued(kHour, kHour + 3600), Walked(kHour, kHour + 3600));
  EXPECT_THAT(Catalogued(kHour, kHour + 3600), SizeIs(2 * 60 * 3 + 2 * 3));
  EXPECT_EQ(CountOf(store_, "-300/late-0of1"), 1u);
  EXPECT_EQ(CountOf(store_, "-600/late-0of1"), 1u);
  EXPECT_EQ(process.keeper.figures().bundles_read, 2u * (60 + 6 + 1) + 3);
  const auto before = store_.objects;
  look_for(10);
  EXPECT_EQ(store_.objects, before) << "nothing is written a second time";
  PutBundle(store_, "node-4", kHour + 120);
  look_for(5);
  EXPECT_EQ(Catalogued(kHour, kHour + 3600), Walked(kHour, kHour + 3600)) << "pass after pass";
  EXPECT_EQ(process.recent.rows(), 0u);
}

TEST_F(CatalogKeeperTest, LooksForLateBundlesOfDaysBeforeSlowly) {
  for (int64_t hour = 0; hour < 48; ++hour)
    PutWindows(store_, kHour + 3600 * hour, kHour + 3600 * hour + 60);
  Process process(store_, clock_);
  SetTime(kHour + 72 * 3600);
  ASSERT_TRUE(process.keeper.Rebuild(kHour, kHour + 48 * 3600));
  const int64_t now_s = clock_.WallNs() / kNsPerSecond;
  const auto lists_of = [&](int64_t old_late_every_s) {
    SetTime(now_s);
    CatalogKeeper keeper(store_, process.recent, clock_, {.old_late_every_s = old_late_every_s});
    const int before = store_.lists;
    for (int i = 0; i < 60; ++i) {
      EXPECT_TRUE(keeper.Look(/*leads=*/true));
      clock_.Advance(60 * kNsPerSecond);
    }
    return store_.lists - before;
  };
  const int without = lists_of(1'000'000);
  // Twelve hours instead of the one at the beginning: of each the catalogs, the first bundle of a
  // kind, and the twelve intervals of the one that there is.
  EXPECT_EQ(lists_of(300) - without, 11 * (1 + 3 + 12));
}

// The hour's catalog replaced the rows that came in time, not those that came late.
TEST_F(CatalogKeeperTest, LateRowsAloneAreNotAllOfTheirInterval) {
  PutWholeHour();
  {
    Process process(store_, clock_);
    Look(process);
    SetTime(kHour + 20 * 3600);
    Look(process);
    PutBundle(store_, "node-3", kHour + 120);
    LookAtTheLastDay(process);
  }
  ASSERT_EQ(CountOf(store_, "-300/0of1"), 0u);
  ASSERT_EQ(CountOf(store_, "-300/late-0of1"), 1u);
  std::erase_if(store_.objects, [](const auto& one) {
    return one.first.find("/catalog/") != one.first.npos &&
           one.first.find("-3600/0of1") != one.first.npos;
  });
  SetTime(kHour + 3 * 86'400);
  Process next(store_, clock_);
  for (int i = 0; i < 3; ++i) {
    Look(next);
    clock_.Advance(60 * kNsPerSecond);
  }
  EXPECT_EQ(CountOf(store_, "-3600/0of1"), 1u);
  EXPECT_EQ(Catalogued(kHour, kHour + 3600), Walked(kHour, kHour + 3600));
}

TEST_F(CatalogKeeperTest, TakesWhatComesLateForFiveMinutesIntoTheHour) {
  PutWindows(store_, kHour, kHour + 300);
  Process process(store_, clock_);
  SetTime(kHour + 600);
  Look(process);
  PutBundle(store_, "node-3", kHour + 60);
  SetTime(kHour + 4200);
  Look(process);
  EXPECT_EQ(Catalogued(kHour, kHour + 300), Walked(kHour, kHour + 300));
  EXPECT_THAT(Catalogued(kHour, kHour + 300), SizeIs(2 * 5 * 3 + 3));
}

// Nodes whose clock is 20 minutes ahead, and behind.
TEST_F(CatalogKeeperTest, CataloguesWhatIsOfAnotherTime) {
  Process process(store_, clock_);
  for (int64_t minute = 0; minute < 130; ++minute) {
    SetTime(kHour + 60 * minute);
    if (minute < 60) {
      PutBundle(store_, "node-1", kHour + 60 * minute);
      PutBundle(store_, "ahead", kHour + 60 * (minute + 20));
      PutBundle(store_, "behind", kHour + 60 * (minute - 20));
    }
    Look(process);
  }
  const int64_t from = kHour - 1200, to = kHour + 3600 + 1200;
  EXPECT_EQ(Catalogued(from, to), Walked(from, to));
  EXPECT_THAT(Catalogued(from, to), SizeIs(3 * 60 * 3));
}

TEST_F(CatalogKeeperTest, MakesADamagedCatalogAnew) {
  PutWindows(store_, kHour, kHour + 600);
  Process process(store_, clock_);
  SetTime(kHour + 1200);
  Look(process);
  for (auto& [key, bytes] : store_.objects) {
    if (key.find("1763701500-300/0of1") != std::string::npos) bytes.resize(bytes.size() / 2);
  }
  SetTime(kHour + 4200);
  Look(process);
  EXPECT_EQ(process.keeper.figures().damaged_catalogs, 1u);
  EXPECT_EQ(CountOf(store_, "-3600/0of1"), 1u);
  EXPECT_EQ(Catalogued(kHour, kHour + 600), Walked(kHour, kHour + 600));
}

TEST_F(CatalogKeeperTest, ReadsBundlesAgainWhoseListIsDamaged) {
  PutWindows(store_, kHour, kHour + 300);
  Process process(store_, clock_);
  SetTime(kHour + 600);
  Look(process);
  for (auto& [key, bytes] : store_.objects) {
    if (key.find("/bundles-") != std::string::npos) bytes = "no list";
  }
  SetTime(kHour + 4200);
  Look(process);
  EXPECT_EQ(Catalogued(kHour, kHour + 300), Walked(kHour, kHour + 300));
  EXPECT_THAT(Catalogued(kHour, kHour + 300), SizeIs(2 * 5 * 3));
}

TEST_F(CatalogKeeperTest, MakesAllAnewThatWasDeleted) {
  PutWholeHour();
  Process process(store_, clock_);
  Look(process);
  std::vector<std::string> hours;
  const auto hour_catalogs = [&] {
    std::vector<std::string> keys;
    for (const auto& [key, bytes] : store_.objects) {
      if (key.find("-3600/0of1") != std::string::npos) keys.push_back(key);
    }
    return keys;
  };
  const std::vector<std::string> before = hour_catalogs();
  std::erase_if(store_.objects,
                [](const auto& one) { return ParseCatalogKey(one.first).has_value(); });
  SetTime(kHour + 100 * 3600);
  Process fresh(store_, clock_);
  const Status rebuilt = fresh.keeper.Rebuild(kHour - 3600, kHour + 7200);
  ASSERT_TRUE(rebuilt) << rebuilt.error().message();
  EXPECT_EQ(hour_catalogs(), before) << "of the same bundles the same catalog";
  EXPECT_EQ(Catalogued(kHour, kHour + 3600), Walked(kHour, kHour + 3600));
}

// Nobody has to know of which time they are missing.
TEST_F(CatalogKeeperTest, MakesOldCatalogsAnewThatWereDeleted) {
  Process process(store_, clock_);
  PutWholeHour();
  PutWindows(store_, kHour + 5 * 3600, kHour + 5 * 3600 + 60);
  SetTime(kHour + 3 * 86'400);
  for (int days = 0; days < 2; ++days) {
    std::erase_if(store_.objects,
                  [](const auto& one) { return one.first.find("/catalog/") != one.first.npos; });
    for (int i = 0; i < 100; ++i) {
      clock_.Advance(60 * kNsPerSecond);
      Look(process);
    }
    EXPECT_EQ(Catalogued(kHour, kHour + 6 * 3600), Walked(kHour, kHour + 6 * 3600));
    EXPECT_THAT(Catalogued(kHour, kHour + 6 * 3600), SizeIs(2 * 61 * 3));
    EXPECT_EQ(process.recent.rows(), 0u);
    EXPECT_GT(CountOf(store_, "-300/0of1"), 0u) << "somebody may be reading them";
    clock_.Advance(86'400 * kNsPerSecond);
  }
  // A round up to where nothing is, and one for the rest.
  for (int i = 0; i < 2; ++i) Look(process);
  EXPECT_EQ(CountOf(store_, "-300/0of1") + CountOf(store_, "-600/0of1"), 0u);
  EXPECT_EQ(CountOf(store_, "-3600/0of1"), 2u);
  EXPECT_EQ(Catalogued(kHour, kHour + 6 * 3600), Walked(kHour, kHour + 6 * 3600));
}

// Somebody stopped deleting half way.
TEST_F(CatalogKeeperTest, AListOfBundlesWithoutTheirRowsSaysNothing) {
  PutWholeHour();
  {
    Process process(store_, clock_);
    Look(process);
  }
  std::erase_if(store_.objects, [](const auto& one) {
    return one.first.find("/catalog/") != one.first.npos &&
           (one.first.find("-3600/") != one.first.npos ||
            one.first.find("1763701500-300/0of1") != one.first.npos);
  });
  SetTime(kHour + 3 * 86'400);
  Process next(store_, clock_);
  for (int i = 0; i < 3; ++i) {
    Look(next);
    clock_.Advance(60 * kNsPerSecond);
  }
  EXPECT_EQ(CountOf(store_, "-3600/0of1"), 1u);
  EXPECT_EQ(Catalogued(kHour, kHour + 3600), Walked(kHour, kHour + 3600));
  // Five minutes, and the hour's roll-ups, were read.
  EXPECT_EQ(next.keeper.figures().bundles_read, 2u * (5 + 1));
}

// The memory holds a part of one interval.
TEST_F(CatalogKeeperTest, WritesInPartsWhatTheMemoryCannotHold) {
  PutWholeHour();
  Process process(store_, clock_, {.max_rows = 20});
  Look(process);
  EXPECT_EQ(CountOf(store_, "-3600/0of1"), 1u);
  EXPECT_EQ(Catalogued(kHour, kHour + 3600), Walked(kHour, kHour + 3600));
  EXPECT_THAT(Catalogued(kHour, kHour + 3600), SizeIs(2 * 60 * 3));
}

// Between two looks, of whoever wrote them and of whoever saw them.
TEST_F(CatalogKeeperTest, LeavesNothingToCatalogsThatWereDeletedOrDamaged) {
  Process leader(store_, clock_);
  Process follower(store_, clock_);
  CatalogAnInterval(leader, follower);
  const auto written = *std::ranges::find_if(store_.objects, IsRows);
  for (const bool deleted : {false, true}) {
    std::erase_if(store_.objects, IsRows);
    std::vector<std::string> expected = Walked(kHour, kHour + 300);
    if (!deleted) {
      store_.objects[written.first] = "damaged";
      expected.push_back("skipped " + written.first);
    }
    for (const Process* process : {&leader, &follower}) {
      const CatalogIndex index(store_, &process->recent);
      EXPECT_EQ(RowsFound({store_, &index}, Ask("", kHour, kHour + 300)), expected)
          << (process == &leader ? "leader " : "follower ") << (deleted ? "deleted" : "damaged");
    }
  }
}

// One roll-up stands for sixty windows, which are there still.
TEST_F(CatalogKeeperTest, AnswersByWindowsWhereARollUpIsLost) {
  PutWholeHour();
  Process leader(store_, clock_);
  Look(leader);
  const CatalogIndex index(store_, &leader.recent);
  const Query hour = Ask("{workload=\"cart\",container=\"web\"}", kHour, kHour + 3600);
  const std::string expected = FoldedOf({store_, &index}, hour);
  store_.read.clear();
  EXPECT_EQ(FoldedOf({store_, &index}, hour), expected);
  const auto is_roll_up = [](const std::string& key) {
    const auto parsed = ParseBundleKey(key);
    return parsed && parsed->rolled_up;
  };
  ASSERT_TRUE(std::ranges::any_of(store_.read, is_roll_up)) << "the roll-ups answer";
  ASSERT_GT(std::erase_if(store_.objects, [&](const auto& one) { return is_roll_up(one.first); }),
            0u);
  const auto merged = MergeProfiles({store_, &index}, hour);
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(FoldedOf({store_, &index}, hour), expected);
  EXPECT_EQ(merged->skipped.total, 0u);
}

// And what a roll-up alone still holds is not given up for one that is lost.
TEST_F(CatalogKeeperTest, AnswersByRollUpsWhereTheWindowsAreLostToo) {
  PutWholeHour();
  Process leader(store_, clock_);
  Look(leader);
  const CatalogIndex index(store_, &leader.recent);
  const auto seconds_of = [](const std::string& key) {
    const auto parsed = ParseBundleKey(key);
    return parsed ? parsed->seconds : 0;
  };
  std::erase_if(store_.objects, [&](const auto& one) {
    return seconds_of(one.first) == 60 ||
           (seconds_of(one.first) > 60 && one.first.find("node-2") != std::string::npos);
  });
  const auto merged = MergeProfiles({store_, &index}, Ask("", kHour, kHour + 3600));
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(merged->profile.Total(0), 60 * (10 + 2 + 5)) << "of node-1";
  EXPECT_EQ(merged->skipped.total, 3u);
}

// Catalogs outlive their data by a day.
TEST_F(CatalogKeeperTest, AnswersNothingThatTheSweepDeletes) {
  PutWindows(store_, kHour, kHour + 300);
  Process leader(store_, clock_);
  SetTime(kHour + 600);
  Look(leader);
  SetTime(kHour + 3600 + 120);
  const CatalogIndex index(store_, nullptr,
                           {.retention = {.standard_seconds = 3600}, .clock = &clock_});
  // The first window ended an hour and a minute ago, the second an hour.
  EXPECT_EQ(RowsFound({store_, &index}, Ask("", kHour, kHour + 300)),
            Walked(kHour + 60, kHour + 300));
}

// The list of bundles that is left of a catalog says nothing of rows.
TEST_F(CatalogKeeperTest, ReadsAgainWhatNothingButAListIsLeftOf) {
  Process leader(store_, clock_);
  Process follower(store_, clock_);
  CatalogAnInterval(leader, follower);
  ASSERT_EQ(std::erase_if(store_.objects, IsRows), 1u);
  Look(follower, /*leads=*/false);
  const CatalogIndex index(store_, &follower.recent);
  const Query hour = Ask("", kHour, kHour + 300);
  EXPECT_EQ(RowsFound({store_, &index}, hour), Walked(kHour, kHour + 300));
  Look(leader);
  EXPECT_EQ(Catalogued(hour), Walked(kHour, kHour + 300)) << "written again";
}

// After an outage all nodes bring what they kept, each in its own time.
TEST_F(CatalogKeeperTest, ClosesNoIntervalWhileItsBundlesAreArriving) {
  Process leader(store_, clock_);
  PutBundle(store_, "node-1", kHour - 120, 60);
  SetTime(kHour + 900);
  Look(leader);
  const size_t before = CountOf(store_, "-300/0of1");
  int64_t now_s = kHour + 1500;
  for (const char* node : {"node-1", "node-2", "node-3"}) {
    for (int64_t at = kHour; at < kHour + 300; at += 60) PutBundle(store_, node, at, 60);
    SetTime(now_s += 60);
    Look(leader);
    EXPECT_EQ(CountOf(store_, "-300/0of1"), before) << node;
    const CatalogIndex index(store_, &leader.recent);
    EXPECT_EQ(RowsFound({store_, &index}, Ask("", kHour, kHour + 300)), Walked(kHour, kHour + 300));
  }
  SetTime(now_s + 299);
  Look(leader);
  EXPECT_EQ(CountOf(store_, "-300/0of1"), before);
  SetTime(now_s + 300);
  Look(leader);
  EXPECT_EQ(CountOf(store_, "-300/0of1"), before + 1);
  EXPECT_EQ(Catalogued(kHour, kHour + 300), Walked(kHour, kHour + 300));
}

TEST_F(CatalogKeeperTest, ClosesAnIntervalThatIsStillArrivingWithItsHour) {
  Process leader(store_, clock_);
  PutBundle(store_, "node-1", kHour - 120, 60);
  SetTime(kHour + 900);
  Look(leader);
  for (int64_t at = kHour; at < kHour + 300; at += 60) {
    PutBundle(store_, "node-1", at, 60);
    SetTime(kHour + 3600 + 300 + at - kHour);
    Look(leader);
  }
  SetTime(kHour + 3600 + 600);
  Look(leader);
  EXPECT_EQ(Catalogued(kHour, kHour + 300), Walked(kHour, kHour + 300));
}

// Until then what came since the last look is missing, as always.
TEST_F(CatalogKeeperTest, DoesNotTrustALookWhenNoneAfterItGoesWell) {
  Process process(store_, clock_);
  PutWindows(store_, kHour, kHour + 60);
  SetTime(kHour + 70);
  Look(process, /*leads=*/false);
  PutWindows(store_, kHour + 60, kHour + 180);
  const Query now = Ask("", kHour, kHour + 3600);
  for (const int64_t after_s : {60, 120, 180}) {
    SetTime(kHour + 70 + after_s);
    store_.refuse_lists_of = "/catalog/";
    EXPECT_FALSE(process.keeper.Look(false));
    store_.refuse_lists_of.reset();
    const CatalogIndex index(store_, &process.recent);
    EXPECT_EQ(RowsFound({store_, &index}, now), Walked(kHour, kHour + (after_s < 150 ? 60 : 180)));
  }
}

// Rows since the last look are missing at the end of an answer, on both sides of a turn.
TEST_F(CatalogKeeperTest, LeavesNoHoleWhereAnIntervalEnds) {
  for (const int64_t turn_s : {kHour + 300, kHour + 3600}) {
    Process process(store_, clock_);
    PutWindows(store_, kHour, turn_s - 60);
    SetTime(turn_s - 10);
    Look(process, /*leads=*/false);
    PutWindows(store_, turn_s - 60, turn_s + 60);
    SetTime(turn_s + 40);
    const CatalogIndex index(store_, &process.recent);
    const Query now = Ask("", kHour, turn_s + 3600);
    EXPECT_EQ(RowsFound({store_, &index}, now), Walked(kHour, turn_s - 60)) << turn_s;
    Look(process, /*leads=*/false);
    EXPECT_EQ(RowsFound({store_, &index}, now), Walked(kHour, turn_s + 60)) << turn_s;
  }
}

TEST_F(CatalogKeeperTest, SaysThatTheMemoryIsFullWhereItMayNotWrite) {
  PutWindows(store_, kHour, kHour + 300);
  Process follower(store_, clock_, {.max_rows = 20});
  SetTime(kHour + 310);
  const Status looked = follower.keeper.Look(false);
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().code(), ErrorCode::kExhausted);
  const CatalogInterval interval{RetentionClass::kStandard, "home", kHour, 300};
  EXPECT_THAT(follower.recent.WholeIntervals(), Not(Contains(Key(interval))));
  const CatalogIndex index(store_, &follower.recent);
  EXPECT_EQ(RowsFound({store_, &index}, Ask("", kHour, kHour + 300)), Walked(kHour, kHour + 300));
}

TEST_F(CatalogKeeperTest, NamesWhatItCouldNotRead) {
  PutWindows(store_, kHour, kHour + 300);
  const std::string damaged = *BuildKey(testing::KeyOf("node-1", kHour + 60));
  store_.objects[damaged].resize(100);
  Process process(store_, clock_);
  SetTime(kHour + 310);
  Look(process);
  const CatalogIndex index(store_, &process.recent);
  EXPECT_THAT(RowsFound({store_, &index}, Ask("", kHour, kHour + 300)),
              Contains("skipped " + damaged));
  for (const int64_t at : {kHour + 600, kHour + 4200}) {
    SetTime(at);
    Look(process);
    EXPECT_THAT(Catalogued(kHour, kHour + 300), Contains("skipped " + damaged));
    EXPECT_EQ(Catalogued(kHour, kHour + 300), Walked(kHour, kHour + 300));
    EXPECT_THAT(Catalogued(kHour + 240, kHour + 300), Not(Contains("skipped " + damaged)));
  }
  EXPECT_EQ(process.keeper.figures().unreadable_bundles, 1u);
}

TEST_F(CatalogKeeperTest, TriesAgainWhenTheStoreIsAway) {
  PutWindows(store_, kHour, kHour + 300);
  Process process(store_, clock_);
  SetTime(kHour + 600);
  store_.writes_left = 0;
  EXPECT_FALSE(process.keeper.Look(true));
  EXPECT_EQ(process.recent.rows(), 2u * 5 * 3);
  store_.writes_left.reset();
  Look(process);
  EXPECT_EQ(Catalogued(kHour, kHour + 300), Walked(kHour, kHour + 300));
  EXPECT_EQ(process.keeper.figures().bundles_read, 10u);
}

TEST_F(CatalogKeeperTest, KeepsClassesAndClustersApart) {
  BundleKey key = testing::KeyOf("node-1", kHour);
  key.retention = RetentionClass::kLong;
  ASSERT_TRUE(store_.Put(*BuildKey(key), testing::BundleOf(testing::RowsOf("node-1", kHour))));
  key.cluster = "away";
  ASSERT_TRUE(store_.Put(*BuildKey(key), testing::BundleOf(testing::RowsOf("node-1", kHour))));
  Process process(store_, clock_);
  SetTime(kHour + 4200);
  Look(process);
  size_t found = 0;
  for (const auto& [name, bytes] : store_.objects) {
    found += name.starts_with("v1/long/home/catalog/") || name.starts_with("v1/long/away/catalog/");
  }
  EXPECT_EQ(found, 2u * 3);
  EXPECT_EQ(Catalogued(kHour, kHour + 60), Walked(kHour, kHour + 60));
}

}  // namespace
}  // namespace firetower::store
