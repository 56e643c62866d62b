// SPDX-License-Identifier: Apache-2.0
#include "hub/report_feed.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "k8s/watch/object_fields.h"

namespace firetower::hub {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class ReportFeedTest : public ::testing::Test {
 protected:
  static k8s::Node Object(const std::string& node, int64_t generation = 1) {
    k8s::FieldSet fields = k8s::NodeReportFields();
    fields.Keep({"metadata", "name"});
    return *k8s::ParseObject(
        fmt::format(R"({{"metadata":{{"name":"{}"}},"policies":[{{"uid":"p","state":"Running",)"
                    R"("generation":{}}}]}})",
                    node, generation),
        fields);
  }
  void Set(const std::vector<std::string>& nodes) {
    feed_.BeginSet();
    for (const std::string& node : nodes) feed_.AddToSet(Object(node));
    feed_.CommitSet();
  }

  int changes_ = 0;
  ReportFeed feed_{[this] { ++changes_; }};
};

TEST_F(ReportFeedTest, TellsAWholeSetAndThenWhatChanged) {
  EXPECT_THAT(feed_.Take().reports, IsEmpty());
  Set({"one", "two"});
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(feed_.nodes(), 2u);
  ReportChanges changes = feed_.Take();
  EXPECT_TRUE(changes.anew);
  EXPECT_THAT(changes.reports, SizeIs(2));

  feed_.Upsert(Object("one", 2));
  feed_.Upsert(Object("one", 3));
  feed_.Delete(Object("two"));
  feed_.Delete(Object("never"));
  feed_.Flush();
  EXPECT_EQ(changes_, 2);
  changes = feed_.Take();
  EXPECT_FALSE(changes.anew);
  ASSERT_THAT(changes.reports, SizeIs(2));
  EXPECT_EQ(changes.reports["one"]->policies[0].generation, 3);
  EXPECT_EQ(changes.reports["two"], nullptr);
  EXPECT_EQ(feed_.nodes(), 1u);
  EXPECT_THAT(feed_.Take().reports, IsEmpty());
}

TEST_F(ReportFeedTest, ASetTakesThePlaceOfChangesBeforeIt) {
  Set({"one"});
  feed_.Upsert(Object("two"));
  Set({"three"});
  feed_.Upsert(Object("four"));
  const ReportChanges changes = feed_.Take();
  EXPECT_TRUE(changes.anew);
  EXPECT_THAT(changes.reports, SizeIs(2));
  EXPECT_TRUE(changes.reports.contains("three") && changes.reports.contains("four"));
}

TEST_F(ReportFeedTest, ASetThatIsAbandonedIsNotTold) {
  feed_.BeginSet();
  feed_.AddToSet(Object("one"));
  feed_.AbandonSet();
  EXPECT_THAT(feed_.Take().reports, IsEmpty());
  feed_.BeginSet();
  feed_.AddToSet(Object("two"));
  feed_.RemoveFromSet(Object("two"));
  feed_.CommitSet();
  EXPECT_TRUE(feed_.Take().anew);
  EXPECT_EQ(feed_.nodes(), 0u);
}

TEST_F(ReportFeedTest, IsBounded) {
  for (size_t i = 0; i < ReportFeed::kMaxNodes + 10; ++i) feed_.Upsert(Object(std::to_string(i)));
  EXPECT_EQ(feed_.nodes(), ReportFeed::kMaxNodes);
  feed_.Upsert(Object("0", 7));
  EXPECT_EQ(feed_.Take().reports["0"]->policies[0].generation, 7);
}

}  // namespace
}  // namespace firetower::hub
