// SPDX-License-Identifier: Apache-2.0
#include "hub/rollouts/rollout_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "hub/rollouts/rollout_events.h"
#include "tests/support/k8s/recording_api_server.h"
#include "tests/support/memory_store.h"
#include "tests/support/stores/rolled_out_pods.h"

namespace firetower::hub {
namespace {

using ::firetower::testing::kMinuteNs;
using ::firetower::testing::MemoryStore;
using ::firetower::testing::PutMinute;
using ::firetower::testing::PutRollout;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kNowNs = 1'782'900'000 * kNsPerSecond;

class AwayStore : public MemoryStore {
 public:
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override {
    ++lists;
    if (away || lists > most_lists) return Error(ErrorCode::kUnavailable, "connection refused");
    return MemoryStore::ListFolders(prefix);
  }
  bool away = false;
  mutable int lists = 0;
  int most_lists = std::numeric_limits<int>::max();
};

class RolloutWatchTest : public ::testing::Test {
 protected:
  // The time goes on to so many minutes before now, and the watch looks.
  void LookAt(int64_t before_minutes, bool leads = true) {
    clock_.Advance(RolloutWatch::kEveryNs);
    clock_.StepWall(kNowNs - before_minutes * kMinuteNs - clock_.WallNs());
    watch_.Look(leads);
  }

  AwayStore store_;
  FakeClock clock_{kNowNs, kNowNs};
  std::vector<Regression> told_;
  RolloutWatch watch_{store_, clock_, {}, [this](const Regression& one) { told_.push_back(one); }};
};

TEST_F(RolloutWatchTest, TellsOnceWhatARolloutMadeSlower) {
  LookAt(12);
  PutRollout(store_, kNowNs, "cart");
  LookAt(6);
  ASSERT_THAT(told_, SizeIs(1));
  EXPECT_EQ(told_[0].rollout.workload, "cart");
  EXPECT_EQ(told_[0].rollout.after, "55c");
  ASSERT_THAT(told_[0].findings, SizeIs(1));
  EXPECT_EQ(told_[0].findings[0].function, "Slow");
  LookAt(3);
  LookAt(0);
  EXPECT_THAT(told_, SizeIs(1));
  EXPECT_EQ(watch_.figures()->rollouts, 1u);
  EXPECT_EQ(watch_.figures()->regressions, 1u);
  EXPECT_THAT(watch_.figures()->recent, SizeIs(1));
  LookAt(-60);
  EXPECT_THAT(watch_.figures()->recent, IsEmpty()) << "an hour later";
}

TEST_F(RolloutWatchTest, WaitsForTwoWindowsOfTheNewPods) {
  PutRollout(store_, kNowNs, "cart", true, 8);
  LookAt(7);
  EXPECT_EQ(watch_.figures()->rollouts, 1u);
  EXPECT_THAT(told_, IsEmpty()) << "two minutes after";
  LookAt(6);
  EXPECT_THAT(told_, SizeIs(1));
}

TEST_F(RolloutWatchTest, SaysNothingWhereNothingHasGrown) {
  PutRollout(store_, kNowNs, "cart", false);
  for (int64_t before = 9; before >= -10; --before) LookAt(before);
  EXPECT_EQ(watch_.figures()->rollouts, 1u);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(RolloutWatchTest, LooksAgainLater) {
  PutRollout(store_, kNowNs, "cart", false, 7);
  LookAt(6);
  EXPECT_THAT(told_, IsEmpty());
  // Only from the fourth minute on it is slow.
  for (int64_t before = 6; before >= 1; --before)
    PutMinute(store_, kNowNs - before * kMinuteNs, "cart", "cart-55c-ccccc", true);
  LookAt(2);
  EXPECT_THAT(told_, SizeIs(1));
}

TEST_F(RolloutWatchTest, LeavesItToTheLeader) {
  PutRollout(store_, kNowNs, "cart");
  LookAt(6, /*leads=*/false);
  EXPECT_EQ(watch_.figures()->looks, 0u);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(RolloutWatchTest, DoesNotRepeatWhatWasDueBeforeItLed) {
  PutRollout(store_, kNowNs, "cart");
  LookAt(0);
  EXPECT_EQ(watch_.figures()->rollouts, 1u);
  EXPECT_THAT(told_, IsEmpty()) << "the look after six minutes was another's";
  LookAt(-6);
  EXPECT_THAT(told_, SizeIs(1)) << "the one after fifteen is its own";
}

TEST_F(RolloutWatchTest, TriesAgainWhenTheStoreWasAway) {
  PutRollout(store_, kNowNs, "cart");
  store_.away = true;
  LookAt(7);
  EXPECT_THAT(watch_.figures()->error, HasSubstr("connection refused"));
  EXPECT_EQ(watch_.figures()->failed_looks, 1u);
  store_.away = false;
  LookAt(6);
  EXPECT_THAT(watch_.figures()->error, IsEmpty());
  EXPECT_THAT(told_, SizeIs(1));
}

// The rows are read, and what is compared is not.
TEST_F(RolloutWatchTest, ComparesAgainWhatTheStoreDidNotGive) {
  PutRollout(store_, kNowNs, "cart");
  LookAt(7);
  const int of_rows = std::exchange(store_.lists, 0);
  store_.most_lists = of_rows;
  LookAt(6);
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_THAT(watch_.figures()->error, HasSubstr("connection refused"));
  EXPECT_EQ(watch_.figures()->failed_looks, 1u);
  store_.most_lists = std::numeric_limits<int>::max();
  LookAt(5);
  EXPECT_THAT(told_, SizeIs(1)) << "not only with the next look of the plan";
}

TEST_F(RolloutWatchTest, GivesAComparisonUpThatIsNeverAnswered) {
  PutRollout(store_, kNowNs, "cart");
  LookAt(7);
  const int of_rows = store_.lists;
  for (int64_t before = 6; before >= -20; --before) {
    store_.lists = 0;
    store_.most_lists = of_rows;
    LookAt(before);
  }
  EXPECT_GE(watch_.figures()->failed_looks, 10u);
  store_.most_lists = std::numeric_limits<int>::max();
  LookAt(-21);
  EXPECT_THAT(told_, IsEmpty()) << "the time of each of the three is over";
}

Regression Slower(size_t functions) {
  Regression regression{{"shop", "cart", "44b", "55c", kNowNs}, {}};
  for (size_t i = 0; i < functions; ++i) {
    diagnosis::Finding finding;
    finding.signature = "grew";
    finding.cause = "F" + std::to_string(i) + " takes 20 % where it took 10 % before";
    regression.findings.push_back(finding);
  }
  return regression;
}

TEST(RegressionNote, NamesTheRolloutAndTheFunctions) {
  EXPECT_EQ(RegressionNote(Slower(1)),
            "since revision 55c came for 44b, 2026-07-01T10:00:00Z: F0 takes 20 % where it took 10 "
            "% before. See firetower diagnose deploy/cart -n shop --since 1h --against rollout");
  EXPECT_THAT(RegressionNote(Slower(5)), HasSubstr("; F2 takes 20 % where it took 10 % before; "
                                                   "and 2 more. See"));
}

TEST(RolloutEvents, WritesAnEventOnTheDeploymentAsItIsNow) {
  k8s::RecordingApiServer server;
  server.Answer(200, R"({"metadata":{"name":"cart","uid":"12ab"}})");
  server.Answer(201);
  FakeClock clock(kNowNs, kNowNs);
  HubMetrics metrics;
  RolloutEvents events(server, clock, metrics, "hub-0");
  events.Tell(Slower(1));
  ASSERT_THAT(server.requests(), SizeIs(2));
  EXPECT_EQ(server.requests()[0].target, "/apis/apps/v1/namespaces/shop/deployments/cart");
  EXPECT_EQ(server.last().target, "/apis/events.k8s.io/v1/namespaces/shop/events");
  for (const char* part : {R"("kind":"Deployment")", R"("uid":"12ab")", R"("type":"Warning")",
                           R"("reason":"SlowerSinceRollout")", "F0 takes 20 %"})
    EXPECT_THAT(server.last().body, HasSubstr(part));
}

TEST(RolloutEvents, WritesItWithoutAUidWhereItMayNotAsk) {
  k8s::RecordingApiServer server;
  server.Answer(403, R"({"message":"deployments.apps is forbidden"})");
  server.Answer(201);
  FakeClock clock(kNowNs, kNowNs);
  HubMetrics metrics;
  RolloutEvents events(server, clock, metrics, "hub-0");
  events.Tell(Slower(1));
  ASSERT_THAT(server.requests(), SizeIs(2));
  EXPECT_THAT(server.last().body, ::testing::Not(HasSubstr("\"uid\"")));
}

}  // namespace
}  // namespace firetower::hub
