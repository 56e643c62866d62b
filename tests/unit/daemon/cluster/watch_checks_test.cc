// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster/watch_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"

namespace firetower::daemon {
namespace {

using k8s::ReflectorHealth;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kNowNs = 1'000 * kNsPerSecond;

WatchState Pods(ReflectorHealth health, bool has_synced, const std::string& message = "") {
  return {"pods", "/api/v1/pods", {health, has_synced, kNowNs - 7 * kNsPerSecond, message}};
}

Check CheckOf(const WatchState& watch) {
  return WatchChecks({watch}, "https://10.0.0.1:443", kNowNs).at(0);
}

TEST(WatchChecks, AreGoodWhileTheServerTells) {
  const Check check = CheckOf(Pods(ReflectorHealth::kSynced, true));
  EXPECT_EQ(check.name, "kube-pods");
  EXPECT_EQ(check.status, CheckStatus::kOk);
  EXPECT_THAT(check.message, HasSubstr("https://10.0.0.1:443, last 7 s ago"));
  EXPECT_EQ(check.fix, "");
}

TEST(WatchChecks, SayWithWhatTheDaemonWorksWhileTheServerIsAway) {
  const Check once = CheckOf(Pods(ReflectorHealth::kFailing, true, "connection refused"));
  EXPECT_EQ(once.status, CheckStatus::kWarn);
  EXPECT_THAT(once.message, HasSubstr("connection refused; the daemon uses the state of 7 s"));
  const Check never = CheckOf(Pods(ReflectorHealth::kFailing, false, "connection refused"));
  EXPECT_THAT(never.message, HasSubstr("none was ever read"));
}

TEST(WatchChecks, NameTheRightThatIsMissing) {
  const Check check = CheckOf(Pods(ReflectorHealth::kForbidden, false, "403 pods is forbidden"));
  EXPECT_EQ(check.status, CheckStatus::kWarn);
  EXPECT_THAT(check.message, HasSubstr("403 pods is forbidden"));
  EXPECT_THAT(check.fix, HasSubstr("list and watch of pods"));
}

TEST(WatchChecks, NothingIsAwaitedOnceItWasThereOrIsRefused) {
  EXPECT_THAT(AwaitedWatches({Pods(ReflectorHealth::kStarting, false)}),
              ElementsAre(HasSubstr("pods were not read")));
  EXPECT_THAT(AwaitedWatches({Pods(ReflectorHealth::kFailing, false, "connection refused")}),
              ElementsAre(HasSubstr("connection refused")));
  EXPECT_THAT(AwaitedWatches({Pods(ReflectorHealth::kSynced, true)}), IsEmpty());
  EXPECT_THAT(AwaitedWatches({Pods(ReflectorHealth::kFailing, true)}), IsEmpty());
  EXPECT_THAT(AwaitedWatches({Pods(ReflectorHealth::kForbidden, false)}), IsEmpty());
  EXPECT_THAT(AwaitedWatches({Pods(ReflectorHealth::kAbsent, false)}), IsEmpty());
}

TEST(UnknownOptOuts, AreThoseOfNamespacesThatWereNeverRead) {
  WatchState namespaces = Pods(ReflectorHealth::kForbidden, false, "namespaces is forbidden");
  EXPECT_EQ(UnknownOptOuts({namespaces}), "") << "these are pods";
  namespaces.resource = "namespaces";
  EXPECT_THAT(UnknownOptOuts({namespaces}), HasSubstr("namespaces is forbidden"));
  namespaces.state.has_synced = true;
  EXPECT_EQ(UnknownOptOuts({namespaces}), "") << "what was read once is known";
}

}  // namespace
}  // namespace firetower::daemon
