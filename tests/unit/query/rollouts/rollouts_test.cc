// SPDX-License-Identifier: Apache-2.0
#include "query/rollouts/rollouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"

namespace firetower::query {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A minute's profile of a pod of the Deployment shop/web.
store::CatalogRow Row(const std::string& pod, int64_t minute) {
  store::CatalogRow row;
  row.namespace_name = "shop";
  row.workload = "web";
  row.pod = pod;
  row.start_ns = minute * 60 * kNsPerSecond;
  row.duration_ns = 60 * kNsPerSecond;
  return row;
}

Rollout Change(const std::string& before, const std::string& after, int64_t minute) {
  return {"shop", "web", before, after, minute * 60 * kNsPerSecond};
}

TEST(RevisionOf, IsInTheNameOfADeploymentsPod) {
  EXPECT_EQ(RevisionOf("web", "web-7d9859fcc4-x2b4z"), "7d9859fcc4");
  EXPECT_EQ(RevisionOf("my-web.v2", "my-web.v2-6bd-x2b4z"), "6bd");
}

TEST(RevisionOf, IsNotInThoseOfOtherPods) {
  EXPECT_EQ(RevisionOf("", "web-7d9859fcc4-x2b4z"), "") << "a bare pod";
  EXPECT_EQ(RevisionOf("web", "web-x2b4z"), "") << "a DaemonSet's";
  EXPECT_EQ(RevisionOf("web", "web-0"), "") << "a StatefulSet's";
  EXPECT_EQ(RevisionOf("import", "import-28912345-x2b4z"), "") << "a CronJob's: minutes";
  EXPECT_EQ(RevisionOf("import", "import-28992445-x2b4z"), "") << "without 0, 1 and 3";
  EXPECT_EQ(RevisionOf("web", "web-7d9859fcc4-x2a4z"), "") << "no suffix has an a";
  EXPECT_EQ(RevisionOf("web", "web-7d9859fcc4bcd-x2b4z"), "") << "too long";
  EXPECT_EQ(RevisionOf("web", "webs-7d9859fcc4-x2b4z"), "");
  EXPECT_EQ(RevisionOf("web", "web-7d98-59fcc4-x2b4z"), "");
  EXPECT_EQ(RevisionOf("web", "web"), "");
  EXPECT_EQ(RevisionOf("web", "web-"), "");
}

TEST(FindRollouts, FindsWhenPodsOfAnotherRevisionBegan) {
  const std::vector<store::CatalogRow> rows = {Row("web-44b-bbbbb", 1), Row("web-44b-ccccc", 1),
                                               Row("web-44b-bbbbb", 2), Row("web-55c-bbbbb", 3),
                                               Row("web-44b-ccccc", 3), Row("web-55c-ccccc", 4)};
  EXPECT_THAT(FindRollouts(rows), ElementsAre(Change("44b", "55c", 3)));
}

TEST(FindRollouts, DoesNotTakeTheFirstPodsForOne) {
  EXPECT_THAT(FindRollouts(std::vector{Row("web-44b-bbbbb", 1), Row("web-44b-ccccc", 5)}),
              IsEmpty());
}

TEST(FindRollouts, DoesNotTakeAnotherPodOfTheOldRevisionForOne) {
  const std::vector<store::CatalogRow> rows = {Row("web-44b-bbbbb", 1), Row("web-55c-bbbbb", 3),
                                               Row("web-44b-bbbbb", 4), Row("web-44b-ccccc", 4),
                                               Row("web-55c-bbbbb", 4), Row("web-55c-ccccc", 5)};
  EXPECT_THAT(FindRollouts(rows), ElementsAre(Change("44b", "55c", 3)));
}

TEST(FindRollouts, TakesAReturnToAnEarlierRevisionForOne) {
  const std::vector<store::CatalogRow> rows = {Row("web-44b-bbbbb", 1), Row("web-55c-bbbbb", 3),
                                               Row("web-44b-ccccc", 9)};
  EXPECT_THAT(FindRollouts(rows), ElementsAre(Change("44b", "55c", 3), Change("55c", "44b", 9)));
}

TEST(FindRollouts, KeepsWorkloadsApart) {
  store::CatalogRow other = Row("web-77d-bbbbb", 2);
  other.namespace_name = "test";
  EXPECT_THAT(FindRollouts(std::vector{Row("web-44b-bbbbb", 1), other}), IsEmpty());
}

TEST(PodsOf, SelectsThePodsOfOneRevision) {
  const auto asked = profile::Selector::Parse("{namespace=\"shop\"}");
  ASSERT_TRUE(asked);
  const profile::Selector pods = PodsOf(*asked, "web.v2", "44b");
  const auto matches = [&](std::string_view pod) {
    return pods.Matches([&](std::string_view label) -> std::string {
      return label == "pod" ? std::string(pod) : "shop";
    });
  };
  EXPECT_TRUE(matches("web.v2-44b-bbbbb"));
  EXPECT_FALSE(matches("web.v2-44c-bbbbb"));
  EXPECT_FALSE(matches("webxv2-44b-bbbbb")) << "the point is a point";
  EXPECT_FALSE(matches("web.v2-44b-bbbbb-2"));
}

}  // namespace
}  // namespace firetower::query
