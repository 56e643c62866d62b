// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "hub/profiles/catalog_controller.h"
#include "hub/profiles/hub_sources.h"
#include "hub/profiles/retention_controller.h"
#include "tests/support/k8s/recording_api_server.h"
#include "tests/support/memory_store.h"
#include "tests/support/stored_profiles.h"
#include "tests/support/stores/shared_store.h"

namespace firetower::hub {
namespace {

using ::firetower::testing::BundleKeyAt;
using ::firetower::testing::BundleOf;
using ::firetower::testing::kFirstWindow;
using ::firetower::testing::MemoryStore;
using ::firetower::testing::Row;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr int64_t kDay = store::kSecondsPerDay;

// Listings fail while it is away.
class AwayStore : public MemoryStore {
 public:
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override {
    if (const auto once = std::exchange(on_next_list, nullptr)) once();
    if (away) return Error(ErrorCode::kUnavailable, "connection refused");
    return MemoryStore::ListFolders(prefix);
  }
  int64_t ClockSkewNs() const override { return skew_s * kNsPerSecond; }
  bool away = false;
  mutable std::function<void()> on_next_list;
  int64_t skew_s = 0;
};

class ControllersTest : public ::testing::Test {
 protected:
  void PutWindow(int64_t start_s) {
    ASSERT_TRUE(
        store_.Put(BundleKeyAt(start_s), BundleOf({Row("shop", "cart-0", "web", start_s)})));
  }
  size_t CountOf(std::string_view part) const {
    size_t count = 0;
    for (const auto& [key, bytes] : store_.objects) count += key.find(part) != std::string::npos;
    return count;
  }
  query::Check CheckCalled(std::string_view name) const {
    for (query::Check& one : sources_.Checks()) {
      if (one.name == name) return std::move(one);
    }
    return {};
  }
  void GoTo(int64_t unix_s) { clock_.Advance(unix_s * kNsPerSecond - clock_.WallNs()); }

  AwayStore store_;
  FakeClock clock_{kNsPerSecond, kFirstWindow* kNsPerSecond};
  store::RecentRows recent_;
  CatalogController catalogs_{store_, recent_, clock_, "home"};
  RetentionController retention_{store_, {}, clock_, "home"};
  k8s::RecordingApiServer api_server_;
  const OwnRights rights_{api_server_};
  const std::string cluster_ = "home";
  const HubSources sources_{{.store = store_,
                             .cluster = cluster_,
                             .catalogs = catalogs_,
                             .retention = retention_,
                             .rights = rights_,
                             .metrics = [](service::ExpositionFormat) { return ""; },
                             .watches = [] { return std::vector<k8s::WatchState>(); },
                             .policies = [] { return std::vector<query::PolicyState>(); }}};
};

TEST_F(ControllersTest, OnlyWhoLeadsWritesCatalogs) {
  PutWindow(kFirstWindow);
  GoTo(kFirstWindow + 900);
  catalogs_.Look(false);
  EXPECT_EQ(catalogs_.figures()->rounds, 1u);
  EXPECT_EQ(catalogs_.figures()->keeper.bundles_read, 1u);
  EXPECT_EQ(CountOf("/catalog/"), 0u);
  EXPECT_EQ(recent_.rows(), 1u);
  catalogs_.Look(true);
  EXPECT_EQ(catalogs_.figures()->keeper.catalogs_written, 1u);
  EXPECT_EQ(CountOf("/catalog/"), 2u) << "the rows, and which bundles they are of";
  EXPECT_EQ(recent_.rows(), 0u);
}

TEST_F(ControllersTest, ARoundThatFailsIsToldUntilOneGoesWell) {
  store_.away = true;
  catalogs_.Look(true);
  catalogs_.Look(true);
  EXPECT_EQ(catalogs_.figures()->failed_rounds, 2u);
  EXPECT_THAT(catalogs_.figures()->error, HasSubstr("connection refused"));
  store_.away = false;
  catalogs_.Look(true);
  EXPECT_EQ(catalogs_.figures()->error, "");
  EXPECT_EQ(catalogs_.figures()->rounds, 1u);
}

// If a round is slow or fails, profiles since its start may be missing in answers.
TEST_F(ControllersTest, ALookThatIsLongAgoIsTold) {
  const auto check = [&] { return CheckCalled("catalogs"); };
  EXPECT_EQ(catalogs_.LagSeconds(), 0);
  clock_.Advance(150 * kNsPerSecond);
  EXPECT_EQ(check().message, "the first round is under way");
  clock_.Advance(1 * kNsPerSecond);
  EXPECT_EQ(check().status, query::CheckStatus::kWarn) << "and it takes long";
  EXPECT_THAT(check().message, HasSubstr("began 151 s ago"));
  catalogs_.Look(true);
  EXPECT_EQ(catalogs_.LagSeconds(), 0);
  EXPECT_EQ(check().status, query::CheckStatus::kOk);
  // While it is under way, and afterwards: it began then.
  int64_t lag_s = 0;
  query::CheckStatus status = query::CheckStatus::kOk;
  store_.on_next_list = [&] {
    clock_.Advance(200 * kNsPerSecond);
    lag_s = catalogs_.LagSeconds();
    status = check().status;
  };
  clock_.Advance(60 * kNsPerSecond);
  catalogs_.Look(true);
  EXPECT_EQ(lag_s, 260);
  EXPECT_EQ(status, query::CheckStatus::kWarn);
  EXPECT_EQ(catalogs_.LagSeconds(), 200);
  EXPECT_EQ(check().status, query::CheckStatus::kWarn);
  store_.away = true;
  clock_.Advance(60 * kNsPerSecond);
  catalogs_.Look(true);
  EXPECT_EQ(catalogs_.LagSeconds(), 260) << "one that fails is none";
  EXPECT_THAT(check().message, HasSubstr("connection refused"));
  store_.away = false;
  catalogs_.Look(true);
  EXPECT_EQ(catalogs_.LagSeconds(), 0);
  EXPECT_EQ(check().status, query::CheckStatus::kOk);
}

TEST_F(ControllersTest, ADamagedBundleIsTold) {
  PutWindow(kFirstWindow);
  GoTo(kFirstWindow + 900);
  catalogs_.Look(false);
  EXPECT_EQ(CheckCalled("catalogs").status, query::CheckStatus::kOk);
  const std::string key = testing::BundleKeyAt(kFirstWindow + 60, "00000001");
  ASSERT_TRUE(store_.Put(key, "half a bundle"));
  catalogs_.Look(false);
  EXPECT_EQ(CheckCalled("catalogs").status, query::CheckStatus::kWarn);
  EXPECT_THAT(CheckCalled("catalogs").message,
              HasSubstr("1 bundles could not be read since the hub started, the last " + key));
}

TEST_F(ControllersTest, AnEndIsNoFailure) {
  store_.away = true;
  std::stop_source stop;
  stop.request_stop();
  catalogs_.Look(true, stop.get_token());
  retention_.Look(true, stop.get_token());
  EXPECT_EQ(catalogs_.figures()->failed_rounds, 0u);
  EXPECT_EQ(retention_.figures()->failed_sweeps, 0u);
}

TEST_F(ControllersTest, WhoLeadsSweepsOnceAnHour) {
  PutWindow(kFirstWindow);
  PutWindow(kFirstWindow + 600);
  GoTo(kFirstWindow + 61 + 14 * kDay);
  retention_.Look(false);
  EXPECT_EQ(CountOf("/bundle/"), 2u);
  retention_.Look(true);
  EXPECT_EQ(CountOf("/bundle/"), 1u);
  EXPECT_EQ(retention_.figures()->swept.deleted_objects, 1u);
  clock_.Advance(RetentionController::kEveryNs - 1);
  retention_.Look(true);
  EXPECT_EQ(CountOf("/bundle/"), 1u);
  clock_.Advance(1);
  retention_.Look(true);
  EXPECT_EQ(CountOf("/bundle/"), 0u);
  EXPECT_EQ(retention_.figures()->sweeps, 2u);
}

TEST_F(ControllersTest, WhatIsAnotherClustersStays) {
  testing::SharedStore shared;
  for (const char* cluster : {"home", "away"})
    shared.PutProfiles(cluster, {Row("shop", "cart-0", "web", kFirstWindow)});
  const std::vector<std::string> before = shared.KeysOf("away");
  CatalogController catalogs(shared, recent_, clock_, "home");
  RetentionController retention(shared, {}, clock_, "home");
  GoTo(kFirstWindow + 900);
  catalogs.Look(true);
  EXPECT_EQ(catalogs.figures()->keeper.catalogs_written, 1u);
  GoTo(kFirstWindow + 30 * kDay);
  retention.Look(true);
  EXPECT_THAT(shared.KeysOf("home"), IsEmpty());
  EXPECT_EQ(shared.KeysOf("away"), before);
  EXPECT_THAT(shared.AskedBeside("home"), IsEmpty());
}

TEST_F(ControllersTest, UploadsThatKilledAgentsLeftAreAborted) {
  GoTo(kFirstWindow + 10 * kDay);
  const int64_t old_s = kFirstWindow + 9 * kDay - 1;
  store_.uploads = {{"v1/short/home/bundle/a.zip", old_s},
                    {"v1/long/home/capture/b.pb.gz", old_s},
                    {"v1/standard/home/bundle/young.zip", old_s + 1},
                    {"v1/standard/homer/bundle/others.zip", old_s},
                    {"theirs", old_s}};
  retention_.Look(false);
  EXPECT_EQ(store_.uploads.size(), 5u);
  retention_.Look(true);
  EXPECT_EQ(retention_.figures()->swept.aborted_uploads, 2u);
  EXPECT_THAT(store_.uploads,
              UnorderedElementsAre(Key("v1/standard/home/bundle/young.zip"),
                                   Key("v1/standard/homer/bundle/others.zip"), Key("theirs")));
}

TEST_F(ControllersTest, UploadsThatCannotBeListedAreToldWhereThatIsNotTheServersWay) {
  store_.refuse_uploads = ErrorCode::kUnsupported;
  retention_.Look(true);
  EXPECT_EQ(retention_.figures()->uploads_error, "");
  EXPECT_EQ(retention_.figures()->sweeps, 1u);
  clock_.Advance(RetentionController::kEveryNs);
  store_.refuse_uploads = ErrorCode::kPermission;
  retention_.Look(true);
  EXPECT_EQ(retention_.figures()->uploads_error, "no such listing");
  EXPECT_EQ(retention_.figures()->error, "") << "what is over age was deleted";
  EXPECT_EQ(retention_.figures()->failed_sweeps, 1u);
  EXPECT_EQ(retention_.figures()->sweeps, 1u);
}

TEST_F(ControllersTest, DoctorSaysWhichPartOfASweepFailedAndWhichRightItNeeds) {
  const auto check = [&] { return CheckCalled("retention"); };
  store_.refuse_uploads = ErrorCode::kPermission;
  retention_.Look(true);
  EXPECT_EQ(check().status, query::CheckStatus::kWarn);
  EXPECT_EQ(check().message, "unfinished uploads: no such listing");
  EXPECT_THAT(check().fix, HasSubstr("s3:ListBucketMultipartUploads, s3:AbortMultipartUpload"));
  EXPECT_THAT(check().fix, Not(HasSubstr("s3:DeleteObject")));
  store_.away = true;
  clock_.Advance(RetentionController::kEveryNs);
  retention_.Look(true);
  EXPECT_THAT(check().message, HasSubstr("connection refused; unfinished uploads: no"));
  EXPECT_THAT(check().fix, AllOf(HasSubstr("s3:DeleteObject"), HasSubstr("s3:AbortMultipart")));
  store_.refuse_uploads.reset();
  clock_.Advance(RetentionController::kEveryNs);
  retention_.Look(true);
  EXPECT_THAT(check().message, HasSubstr("connection refused"));
  EXPECT_THAT(check().fix, Not(HasSubstr("uploads")));
}

TEST_F(ControllersTest, DoctorTellsOfAClockThatIsNotTheStores) {
  PutWindow(kFirstWindow);
  store_.skew_s = 60;
  EXPECT_EQ(CheckCalled("store").status, query::CheckStatus::kOk);
  store_.skew_s = -61;
  EXPECT_EQ(CheckCalled("store").status, query::CheckStatus::kWarn);
  EXPECT_THAT(CheckCalled("store").message, HasSubstr("its clock is 61 s behind this machine's"));
  EXPECT_THAT(CheckCalled("store").fix, HasSubstr("set the wrong clock"));
  store_.skew_s = 7200;
  EXPECT_THAT(CheckCalled("store").message, HasSubstr("7200 s ahead of this machine's"));
}

TEST_F(ControllersTest, ASweepThatFailsSaysWhy) {
  store_.away = true;
  retention_.Look(true);
  EXPECT_EQ(retention_.figures()->failed_sweeps, 1u);
  EXPECT_THAT(retention_.figures()->error, HasSubstr("connection refused"));
}

}  // namespace
}  // namespace firetower::hub
