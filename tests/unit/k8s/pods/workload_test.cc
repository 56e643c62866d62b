// SPDX-License-Identifier: Apache-2.0
#include "k8s/pods/workload.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace firetower::k8s {
namespace {

// 2026-11-21 19:48:00 UTC, in minutes since 1970 as CronJobs count (cronjob_controllerv2.go,
// getJobName: scheduledTime.Unix() / 60).
constexpr int64_t kMinutes = 29921508;
constexpr int64_t kCreatedNs = kMinutes * 60 * kNsPerSecond;

Workload Of(std::string_view kind, std::string_view name, const Labels& labels = {}) {
  return WorkloadOf({kind, name}, "pod-x", labels, kCreatedNs);
}

TEST(Workload, ADeploymentIsItsReplicaSetWithoutTheHash) {
  EXPECT_EQ(Of("ReplicaSet", "checkout-7d9859fcc4", {{"pod-template-hash", "7d9859fcc4"}}),
            (Workload{"Deployment", "checkout"}));
  EXPECT_EQ(Of("ReplicaSet", "a-b-7d9859fcc4", {{"pod-template-hash", "7d9859fcc4"}}),
            (Workload{"Deployment", "a-b"}));
}

TEST(Workload, AReplicaSetOfItsOwnStaysOne) {
  EXPECT_EQ(Of("ReplicaSet", "checkout-7d9859fcc4"),
            (Workload{"ReplicaSet", "checkout-7d9859fcc4"}));
  EXPECT_EQ(Of("ReplicaSet", "checkout", {{"pod-template-hash", "7d9859fcc4"}}),
            (Workload{"ReplicaSet", "checkout"}));
  EXPECT_EQ(Of("ReplicaSet", "-7d9859fcc4", {{"pod-template-hash", "7d9859fcc4"}}),
            (Workload{"ReplicaSet", "-7d9859fcc4"}));
  EXPECT_EQ(Of("ReplicaSet", "x", {{"pod-template-hash", ""}}), (Workload{"ReplicaSet", "x"}));
}

TEST(Workload, ACronJobIsItsJobWithoutTheMinute) {
  EXPECT_EQ(Of("Job", "report-29921508"), (Workload{"CronJob", "report"}));
  EXPECT_EQ(Of("Job", "nightly-report-29921400"), (Workload{"CronJob", "nightly-report"}))
      << "the pod of a later try";
}

TEST(Workload, AJobWhoseNameOnlyEndsInDigitsStaysOne) {
  for (const char* name : {"import-20240101", "import-20261121", "import-1", "import-99999999",
                           "29921508", "-29921508", "import-29921508x", "import-", "import"}) {
    EXPECT_EQ(Of("Job", name), (Workload{"Job", name}));
  }
  EXPECT_EQ(WorkloadOf({"Job", "report-29921508"}, "p", {}, std::nullopt),
            (Workload{"Job", "report-29921508"}))
      << "nobody knows when it was made";
}

TEST(Workload, OtherControllersAreThemselves) {
  EXPECT_EQ(Of("DaemonSet", "agent"), (Workload{"DaemonSet", "agent"}));
  EXPECT_EQ(Of("StatefulSet", "db"), (Workload{"StatefulSet", "db"}));
  EXPECT_EQ(Of("Workflow", "train-29921508"), (Workload{"Workflow", "train-29921508"}));
}

TEST(Workload, APodWithoutAControllerIsItsOwn) {
  EXPECT_EQ(Of("", ""), (Workload{"Pod", "pod-x"}));
  EXPECT_EQ(Of("Node", "node-1"), (Workload{"Pod", "pod-x"})) << "a static pod's mirror";
}

}  // namespace
}  // namespace firetower::k8s
