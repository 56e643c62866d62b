// SPDX-License-Identifier: Apache-2.0
#include "daemon/outbox/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>

#include "store/query.h"
#include "tests/support/memory_store.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kWallNs = 1'763'700'000 * kNsPerSecond;

// Observer of the outbox's thread that the test waits for.
class Watcher : public StoreObserver {
 public:
  void OnStoreOperation(std::string_view operation, const Status& result, int64_t) override {
    if (operation != "put") return;
    std::lock_guard lock(mutex_);
    ++counts_[result.has_value()];
    changed_.notify_all();
  }
  void WaitFor(bool ok, int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return counts_[ok] >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<bool, int> counts_;
};

// A disk that hangs until the test releases it.
class HangingStore : public testing::MemoryStore {
 public:
  HangingStore() {
    on_put = [this](const std::string&) {
      std::unique_lock lock(mutex_);
      ++waiting_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return go_on_; });
    };
  }
  void WaitUntilItHangs() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }
  void GoOn() {
    std::lock_guard lock(mutex_);
    go_on_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool go_on_ = false;
};

class OutboxTest : public ::testing::Test {
 protected:
  std::unique_ptr<Outbox> Over(store::ObjectStore& store) {
    auto outbox = std::make_unique<Outbox>(store, "put", watcher_, clock_, [this] { ++minutes_; });
    outbox->Start();
    return outbox;
  }
  Outgoing Bundle(uint64_t number) {
    const std::string key = "window/" + std::to_string(number);
    return {number, k8s::RetentionClass::kStandard, number, key, "w", ProfilesOf(key)};
  }
  Outgoing Capture(uint64_t number) {
    const std::string key = "capture/" + std::to_string(number);
    return {0, k8s::RetentionClass::kStandard, 1, key, "c", ProfilesOf(key)};
  }
  // Tells when nobody holds them any more.
  std::shared_ptr<const std::vector<store::OpenProfile>> ProfilesOf(const std::string& key) {
    return {new std::vector<store::OpenProfile>, [this, key](const auto* profiles) {
              delete profiles;
              released_.push_back(key);
            }};
  }
  static std::vector<std::string> Keys(const testing::MemoryStore& store) {
    std::vector<std::string> keys;
    for (const auto& [key, bytes] : store.objects) keys.push_back(key);
    return keys;
  }

  FakeClock clock_{kNsPerSecond, kWallNs};
  Watcher watcher_;
  int minutes_ = 0;                    // to be read when the outbox has ended
  std::vector<std::string> released_;  // to be read when the outbox has ended
};

TEST_F(OutboxTest, StoresInOrderAndReleasesWhatIsStored) {
  testing::MemoryStore store;
  const auto outbox = Over(store);
  for (uint64_t i = 1; i <= 3; ++i) outbox->Send(Bundle(i));
  outbox->Finish();
  EXPECT_THAT(Keys(store), ElementsAre("window/1", "window/2", "window/3"));
  EXPECT_THAT(released_, ElementsAre("window/1", "window/2", "window/3"));
  EXPECT_EQ(outbox->dropped_samples(), 0u);
}

TEST_F(OutboxTest, TriesWhatWasRefusedAgainUnderItsName) {
  testing::MemoryStore store;
  std::vector<std::string> tried;
  store.on_put = [&](const std::string& key) { tried.push_back(key); };
  store.refuse = 1;
  const auto outbox = Over(store);
  outbox->Send(Bundle(1));
  watcher_.WaitFor(false, 1);
  outbox->Send(Bundle(2));
  watcher_.WaitFor(true, 2);
  outbox->Finish();
  EXPECT_THAT(tried, ElementsAre("window/1", "window/1", "window/2"));
  EXPECT_EQ(outbox->dropped_samples(), 0u);
}

TEST_F(OutboxTest, SaysOnceThatTheStoreIsAwayAndOnceThatItIsBack) {
  testing::MemoryStore store;
  store.refuse = 5;
  ::testing::internal::CaptureStderr();
  const auto outbox = Over(store);
  // Each is a reason to try again.
  for (uint64_t i = 1; i <= 5; ++i) {
    outbox->Send(Bundle(i));
    watcher_.WaitFor(false, static_cast<int>(i));
  }
  outbox->Send(Bundle(6));
  watcher_.WaitFor(true, 6);
  outbox->Finish();
  const std::string log = ::testing::internal::GetCapturedStderr();
  const auto lines_with = [&log](std::string_view text) {
    size_t count = 0;
    for (size_t at = log.find(text); at != log.npos; at = log.find(text, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(lines_with("not stored"), 1u) << log;
  EXPECT_EQ(lines_with("stored again"), 1u) << log;
  EXPECT_THAT(log, HasSubstr("refused=5"));
  EXPECT_THAT(log, HasSubstr("tries=1"));
}

TEST_F(OutboxTest, TriesOnceMoreAtItsEnd) {
  testing::MemoryStore store;
  store.refuse = 1;
  const auto outbox = Over(store);
  outbox->Send(Bundle(1));
  watcher_.WaitFor(false, 1);
  outbox->Finish();
  EXPECT_THAT(Keys(store), ElementsAre("window/1"));
}

TEST_F(OutboxTest, CountsAndReleasesWhatIsRefusedAtTheEnd) {
  testing::MemoryStore store;
  store.refuse = 1'000;
  const auto outbox = Over(store);
  outbox->Send(Bundle(3));
  outbox->Send(Bundle(4));
  outbox->Send(Capture(1));
  outbox->Finish();
  EXPECT_THAT(Keys(store), IsEmpty());
  EXPECT_EQ(outbox->dropped_samples(), 3u + 4 + 1);
  EXPECT_EQ(released_.size(), 3u);
}

// Senders never wait, and the object that is being stored is never dropped.
TEST_F(OutboxTest, DropsTheOldestWhileTheStoreHangs) {
  HangingStore store;
  const auto outbox = Over(store);
  outbox->Send(Bundle(1));
  store.WaitUntilItHangs();
  constexpr uint64_t kDropped = 3;
  for (uint64_t i = 2; i <= Outbox::kMaxWindows + kDropped; ++i) outbox->Send(Bundle(i));
  EXPECT_EQ(outbox->dropped_samples(), 2u + 3 + 4);
  store.GoOn();
  outbox->Finish();
  EXPECT_EQ(store.objects.size(), Outbox::kMaxWindows);
  EXPECT_TRUE(store.objects.contains("window/1"));
  EXPECT_TRUE(store.objects.contains("window/5"));
}

TEST_F(OutboxTest, CapturesHaveRoomOfTheirOwn) {
  HangingStore store;
  const auto outbox = Over(store);
  outbox->Send(Bundle(1));
  store.WaitUntilItHangs();
  for (uint64_t i = 0; i <= Outbox::kMaxCaptures; ++i) outbox->Send(Capture(i));
  for (uint64_t i = 2; i <= Outbox::kMaxWindows; ++i) outbox->Send(Bundle(i));
  EXPECT_EQ(outbox->dropped_samples(), 1u) << "one capture";
  store.GoOn();
  outbox->Finish();
  EXPECT_EQ(store.objects.size(), Outbox::kMaxCaptures + Outbox::kMaxWindows);
  EXPECT_FALSE(store.objects.contains("capture/0"));
}

// Objects behind it would wait for ever.
TEST_F(OutboxTest, DropsAtOnceWhatCanNeverBeStored) {
  testing::MemoryStore store;
  store.refuse_keys["window/1"] = ErrorCode::kInvalid;
  const auto outbox = Over(store);
  outbox->Send(Bundle(1));
  outbox->Send(Bundle(2));
  watcher_.WaitFor(true, 1);
  EXPECT_EQ(outbox->dropped_samples(), 1u);
  outbox->Finish();
  EXPECT_THAT(Keys(store), ElementsAre("window/2"));
  EXPECT_THAT(released_, ElementsAre("window/1", "window/2"));
}

TEST_F(OutboxTest, DoesWhatIsDueAlsoWhenNothingIsSent) {
  testing::MemoryStore store;
  Over(store)->Finish();
  EXPECT_EQ(minutes_, 1);
}

}  // namespace
}  // namespace firetower::daemon
