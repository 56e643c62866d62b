// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/store_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/command.h"
#include "tests/support/memory_store.h"
#include "tests/unit/daemon/control/dated_side.h"

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;

// Of a full disk: the name of a file finds room, its bytes do not.
class FullStore : public testing::MemoryStore {
 public:
  Status Put(std::string_view key, std::string_view bytes) override {
    if (bytes.size() > room) return Error(ErrorCode::kExhausted, "No space left on device");
    return MemoryStore::Put(key, bytes);
  }
  size_t room = 4096;
};

TEST(ProbeStore, AFullStoreFailsThoughItTakesAnEmptyObject) {
  FullStore store;
  ASSERT_TRUE(store.Put("v1/empty", ""));
  const Check check = StoreCheck(ProbeStore(store, false));
  EXPECT_EQ(check.status, CheckStatus::kFail);
  EXPECT_THAT(check.message, HasSubstr("cannot be written: No space left on device"));
  EXPECT_THAT(check.fix, HasSubstr("free space"));
  store.room = kStoreProbeBytes;
  EXPECT_EQ(ProbeStore(store, false).error, "");
}

TEST(ProbeStore, LeavesNothingBehind) {
  testing::MemoryStore store;
  EXPECT_EQ(ProbeStore(store, false).error, "");
  EXPECT_EQ(store.puts, 1);
  EXPECT_TRUE(store.objects.empty());
}

TEST(ProbeStore, ProfilesThatWereRefusedCountMoreThanTheProbe) {
  testing::MemoryStore store;
  const Check check = StoreCheck(ProbeStore(store, true));
  EXPECT_EQ(check.status, CheckStatus::kFail);
  EXPECT_THAT(check.message, HasSubstr("did not take the profiles that were written last"));
}

TEST(ProbeStore, TellsOfAClockThatIsNotTheStores) {
  testing::DatedSide dated;
  const StoreFacts facts = ProbeStore(dated.side(), false);
  EXPECT_EQ(facts.error, "");
  const int64_t behind_s =
      Clock::System().WallNs() / kNsPerSecond - (testing::DatedSide::kServerS + 1);
  EXPECT_NEAR(static_cast<double>(facts.skew_s), static_cast<double>(-behind_s), 10);
  const Check check = StoreCheck(facts);
  EXPECT_EQ(check.status, CheckStatus::kWarn);
  EXPECT_THAT(check.message, HasSubstr(" s behind this machine's"));
  StoreFacts near = facts;
  near.skew_s = -60;
  EXPECT_EQ(StoreCheck(near).status, CheckStatus::kOk);
}

}  // namespace
}  // namespace firetower::daemon
