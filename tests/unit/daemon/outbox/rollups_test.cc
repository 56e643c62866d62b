// SPDX-License-Identifier: Apache-2.0
#include "daemon/outbox/rollups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/bundle.h"
#include "tests/support/memory_store.h"
#include "tests/support/stored_profiles.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::BundleOf;
using ::firetower::testing::Row;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kHour = 1'763'701'200;  // 2025-11-21 05:00:00 UTC

class RollUpsTest : public ::testing::Test {
 protected:
  // Windows of a minute of [from_s, to_s) after kHour, with ten samples each.
  void Windows(int64_t from_s, int64_t to_s, const std::string& run = "abcd1234",
               const std::string& node = "node-1") {
    for (int64_t at = from_s; at < to_s; at += 60) {
      const store::BundleKey key{
          .cluster = "home", .start_s = kHour + at, .seconds = 60, .node = node, .run = run};
      store_.objects[*store::BuildKey(key)] = BundleOf({Row("shop", "cart", "web", kHour + at)});
    }
  }
  void LookAt(int64_t second) {
    clock_.StepWall((kHour + second) * kNsPerSecond - clock_.WallNs());
    roll_ups_.Look();
  }
  // "<seconds after kHour>+<length> <run>: <samples>" of each roll-up.
  std::vector<std::string> RollUpsMade() {
    std::vector<std::string> made;
    const store::ObjectStore& store = store_;
    for (const auto& [name, bytes] : store_.objects) {
      const store::BundleKey key = *store::ParseBundleKey(name);
      if (!key.rolled_up) continue;
      int64_t samples = 0;
      for (const store::BundleEntry& entry : store::ReadBundleIndex(store, name)->entries)
        samples += entry.row.samples;
      made.push_back(std::to_string(key.start_s - kHour) + "+" + std::to_string(key.seconds) + " " +
                     key.run + ": " + std::to_string(samples));
    }
    return made;
  }

  FakeClock clock_{kNsPerSecond, kHour* kNsPerSecond};
  testing::MemoryStore store_;
  RollUps roll_ups_{store_, store_, clock_, "home", "node-1"};
};

TEST_F(RollUpsTest, MergesTenMinutesWhenTheirWindowsAreThere) {
  Windows(0, 900);
  LookAt(600 + RollUps::kGraceSeconds - 1);
  EXPECT_THAT(RollUpsMade(), IsEmpty());
  LookAt(600 + RollUps::kGraceSeconds);
  EXPECT_THAT(RollUpsMade(), ElementsAre("0+600 abcd1234: 100"));
}

TEST_F(RollUpsTest, MergesTheTenMinutesOfAnHour) {
  for (int64_t second = 0; second < 3900; second += 60) {
    Windows(second, second + 60);
    LookAt(second + 60);
  }
  EXPECT_THAT(RollUpsMade(),
              ElementsAre("0+3600 abcd1234: 600", "0+600 abcd1234: 100", "600+600 abcd1234: 100",
                          "1200+600 abcd1234: 100", "1800+600 abcd1234: 100",
                          "2400+600 abcd1234: 100", "3000+600 abcd1234: 100"));
  EXPECT_EQ(roll_ups_.made(), 7u) << "each once";
}

TEST_F(RollUpsTest, KeepsRunsApartAndMakesThoseOfAFormerOne) {
  Windows(0, 240, "aaaaaaaa");
  Windows(300, 600, "bbbbbbbb");
  LookAt(1300);
  EXPECT_THAT(RollUpsMade(), ElementsAre("0+600 aaaaaaaa: 40", "0+600 bbbbbbbb: 50"));
}

TEST_F(RollUpsTest, LeavesOtherNodesAlone) {
  Windows(0, 600, "abcd1234", "node-2");
  LookAt(1300);
  EXPECT_THAT(RollUpsMade(), IsEmpty());
}

TEST_F(RollUpsTest, DoesNotMakeWhatIsThereAgain) {
  Windows(0, 600);
  LookAt(800);
  RollUps next(store_, store_, clock_, "home", "node-1");
  next.Look();
  EXPECT_EQ(next.made(), 0u);
}

TEST_F(RollUpsTest, TriesAgainWhatTheStoreRefused) {
  Windows(0, 600);
  store_.refuse = 1;
  LookAt(800);
  EXPECT_THAT(RollUpsMade(), IsEmpty());
  LookAt(860);
  EXPECT_THAT(RollUpsMade(), SizeIs(1));
}

}  // namespace
}  // namespace firetower::daemon
