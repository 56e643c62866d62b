// SPDX-License-Identifier: Apache-2.0
// Captures, from the order to the object in the store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "daemon/export/exporter.h"
#include "profile/pprof.h"
#include "store/capture.h"
#include "store/query.h"
#include "tests/support/direct_sink.h"
#include "tests/support/memory_store.h"
#include "tests/unit/daemon/export/slices.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::MemoryStore;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class ExporterCaptures : public ::testing::Test {
 protected:
  ExporterCaptures() {
    app_ = code_.AddModule("/usr/bin/app", {"main", "step"});
    options_.window = {"node-1", kWindowNs, {false, false, false}};
    options_.run = "abcd1234";
    exporter_ = std::make_unique<Exporter>(sink_, loader_, cache_, "/nonexistent", observer_,
                                           clock_, options_);
  }

  // Sampled for captures only; with `to_store` for its window too.
  static Decision Armed(bool to_store = false) {
    Decision decision = ToBoth();
    decision.to_metrics = decision.to_store = to_store;
    decision.record_ns = 30 * kNsPerSecond;
    decision.recorded_for = {"shop/spikes"};
    return decision;
  }
  // A sample each second of [begin, end), the leaf at `offset`.
  RowOf Sampled(const std::shared_ptr<const Container>& container, int64_t begin_s, int64_t end_s,
                Decision decision, uint64_t offset = 4) {
    RowOf row{.container = container, .frames = {Frame{app_, 0, offset}}, .count = 0};
    row.decision = std::move(decision);
    for (int64_t second = begin_s; second < end_s; ++second) row.seconds.push_back(second);
    row.count = row.seconds.size();
    return row;
  }
  // Five seconds.
  void Slice5(int64_t begin_s, const std::vector<RowOf>& rows) {
    const int64_t begin_ns = kFirstWindowNs + begin_s * kNsPerSecond;
    auto slice = SliceOf(begin_ns, begin_ns + 5 * kNsPerSecond, rows, (begin_s + 5) % 60 == 0);
    if (source_.slices.empty()) code_.TellModules(*slice);
    source_.slices.push_back(std::move(slice));
  }
  static CaptureOrder Order(int64_t begin_s, int64_t end_s) {
    CaptureOrder order;
    order.id = "f00d";
    order.policy = "shop/spikes";
    order.reason = "rule cpu: 93% of its limit, threshold 80%";
    order.begin_ns = begin_s * kNsPerSecond;
    order.end_ns = end_s * kNsPerSecond;
    order.begin_wall_ns = kFirstWindowNs + begin_s * kNsPerSecond;
    return order;
  }
  void Run() {
    exporter_->Start(source_);
    exporter_->Finish();
  }
  // The order comes when the first `through` slices are through.
  void RunAndOrder(size_t through, CaptureOrder order) {
    struct Ordering : ListedSlices {
      std::unique_ptr<Slice> TryPop() override {
        if (taken++ == through) exporter->Order(order);
        return ListedSlices::TryPop();
      }
      Exporter* exporter = nullptr;
      CaptureOrder order;
      size_t through = 0, taken = 0;
    };
    Ordering source;
    source.exporter = exporter_.get();
    source.order = std::move(order);
    source.through = through;
    source.slices = std::move(source_.slices);
    exporter_->Start(source);
    exporter_->Finish();
  }
  std::vector<std::string> CaptureKeys() const {
    std::vector<std::string> keys;
    for (const auto& [key, bytes] : store_.objects) {
      if (key.find("/capture/") != std::string::npos) keys.push_back(key);
    }
    return keys;
  }
  int64_t Merged(std::string_view selector) const {
    store::Query query{.selector = *profile::Selector::Parse(selector)};
    auto merged = store::MergeProfiles(store_, query);
    EXPECT_TRUE(merged);
    EXPECT_EQ(merged->skipped.total, 0u);
    return merged->profile.sample_types().empty() ? 0 : merged->profile.Total(0);
  }

  FakeClock clock_{kNsPerSecond, kFirstWindowNs};
  MemoryStore store_;
  testing::DirectSink sink_{store_};
  NoObserver observer_;
  symbolizer::SymbolCache cache_;
  KnownCode code_{cache_};
  SymbolLoader loader_{"/nonexistent", cache_};
  ExportOptions options_;
  std::unique_ptr<Exporter> exporter_;
  ListedSlices source_;
  std::shared_ptr<const Container> web_ = ContainerCalled("web");
  std::shared_ptr<const Container> db_ = ContainerCalled("db");
  uint32_t app_ = 0;
};

TEST_F(ExporterCaptures, HoldTheTimeBeforeTheOrder) {
  for (int64_t begin_s : {0, 5, 10, 15}) {
    Slice5(begin_s, {Sampled(web_, begin_s, begin_s + 5, Armed())});
  }
  RunAndOrder(2, Order(3, 13));
  ASSERT_THAT(CaptureKeys(), ElementsAre(HasSubstr(
                                 "v1/standard/standalone/capture/-/pod-1/2025-11-21/1763700003-10-"
                                 "web-cpu-")));
  auto row = store::ReadCaptureRow(store_.objects.at(CaptureKeys()[0]));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->samples, 10);
  EXPECT_EQ(row->value, 100'000'000);
  EXPECT_EQ(row->start_ns, kFirstWindowNs + 3 * kNsPerSecond);
  EXPECT_EQ(row->duration_ns, 10 * kNsPerSecond);
  EXPECT_EQ(row->capture, "f00d");
  EXPECT_EQ(row->also_samples, 0);
  EXPECT_THAT(row->policies, ElementsAre("shop/spikes"));
  const store::ObjectStore& stored = store_;
  auto profile = profile::DecodePprof(*stored.Get(CaptureKeys()[0]));
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->Total(0), 10);
  EXPECT_EQ(profile->FrameName(profile->location(profile->sample(0).locations[0]), 0), "main");
  EXPECT_THAT(profile->meta().comments,
              Contains("capture=f00d rule cpu: 93% of its limit, threshold 80%"));
  EXPECT_THAT(profile->meta().comments, Contains("policy=shop/spikes"));
  EXPECT_THAT(profile->meta().comments,
              Contains(AllOf(StartsWith("diagnosis: application, 100.0 %, confidence "),
                             EndsWith("; hottest main of /usr/bin/app 100.0 %"))));
  EXPECT_EQ(Merged("{container=\"web\"}"), 10);
}

// An event's name has what separates the parts of a key.
TEST(CaptureKeyOf, WritesTheTypeAsFilesAreCalled) {
  store::CatalogRow row;
  row.type = "event:sched:Sched-Switch";
  row.namespace_name = "shop";
  row.pod = "web-0";
  row.container = "web";
  row.start_ns = kFirstWindowNs;
  row.duration_ns = 10 * kNsPerSecond;
  const store::CaptureKey key = CaptureKeyOf(row, store::RetentionClass::kStandard, "home");
  EXPECT_EQ(key.type, "event.sched.sched_switch");
  const Result<std::string> built = store::BuildKey(key);
  ASSERT_TRUE(built) << built.error().message();
  EXPECT_EQ(*store::ParseCaptureKey(*built), key);
  row.type = "offcpu";
  EXPECT_EQ(CaptureKeyOf(row, store::RetentionClass::kStandard, "home").type, "offcpu");
}

TEST_F(ExporterCaptures, BeginWhereTheRecorderDid) {
  Slice5(10, {Sampled(web_, 12, 15, Armed())});
  Slice5(15, {Sampled(web_, 15, 20, Armed())});
  RunAndOrder(1, Order(0, 16));
  ASSERT_EQ(CaptureKeys().size(), 1u);
  auto row = store::ReadCaptureRow(store_.objects.at(CaptureKeys()[0]));
  EXPECT_EQ(row->samples, 4);
  EXPECT_EQ(row->start_ns, kFirstWindowNs + 10 * kNsPerSecond);
  EXPECT_EQ(row->duration_ns, 6 * kNsPerSecond);
}

TEST_F(ExporterCaptures, TakeWhomTheirScopeNames) {
  auto other = std::make_shared<Container>(*ContainerCalled("web"));
  other->path.pod_uid = other->labels.pod = "pod-2";
  auto all = [&](int64_t begin_s) {
    Slice5(begin_s, {Sampled(web_, begin_s, begin_s + 5, Armed()),
                     Sampled(db_, begin_s, begin_s + 5, Armed()),
                     Sampled(other, begin_s, begin_s + 5, Armed())});
  };
  all(0);
  all(5);
  CaptureOrder container = Order(0, 5), pod = Order(1, 5), node = Order(2, 5);
  container.subject.container = web_;
  pod.subject.pod_uid = "pod-1";
  exporter_->Order(container);
  exporter_->Order(pod);
  exporter_->Order(node);
  Run();
  std::map<int64_t, std::vector<std::string>> subjects;  // by the second it begins
  for (const std::string& key : CaptureKeys()) {
    auto row = store::ReadCaptureRow(store_.objects.at(key));
    subjects[(row->start_ns - kFirstWindowNs) / kNsPerSecond].push_back(row->pod + "/" +
                                                                        row->container);
  }
  EXPECT_THAT(subjects[0], ElementsAre("pod-1/web"));
  EXPECT_THAT(subjects[1], UnorderedElementsAre("pod-1/web", "pod-1/db"));
  EXPECT_THAT(subjects[2], UnorderedElementsAre("pod-1/web", "pod-1/db", "pod-2/web"));
}

// Both hold the same samples: a sum counts them once, and the capture can be had by itself.
TEST_F(ExporterCaptures, AreNotCountedTwiceBesideAWindow) {
  Slice5(0, {Sampled(web_, 0, 5, Armed(false))});
  Slice5(5, {Sampled(web_, 5, 10, Armed(true))});
  Slice5(10, {});
  Slice5(15, {});
  RunAndOrder(3, Order(0, 10));
  ASSERT_EQ(CaptureKeys().size(), 1u);
  auto row = store::ReadCaptureRow(store_.objects.at(CaptureKeys()[0]));
  EXPECT_EQ(row->samples, 10);
  EXPECT_EQ(row->also_samples, 5);
  EXPECT_EQ(Merged("{container=\"web\"}"), 10);
  EXPECT_EQ(Merged("{capture=\"f00d\"}"), 10);
  EXPECT_EQ(Merged("{capture=\"\"}"), 5);
}

TEST_F(ExporterCaptures, AreNotCountedTwiceBesideAnother) {
  for (int64_t begin_s : {0, 5, 10, 15, 20}) {
    Slice5(begin_s, {Sampled(web_, begin_s, begin_s + 5, Armed()),
                     Sampled(db_, begin_s, begin_s + 5, Armed())});
  }
  Slice5(25, {});
  CaptureOrder web = Order(0, 10);
  web.subject.container = web_;
  exporter_->Order(web);  // is over when the other is ordered
  CaptureOrder all = Order(5, 20);
  all.id = "beef";
  RunAndOrder(3, all);
  ASSERT_EQ(CaptureKeys().size(), 3u);
  EXPECT_EQ(Merged("{container=\"web\",capture=\"f00d\"}"), 10);
  EXPECT_EQ(Merged("{container=\"web\",capture=\"beef\"}"), 15);
  EXPECT_EQ(Merged("{container=\"web\"}"), 20);
  EXPECT_EQ(Merged("{container=\"db\"}"), 15);
}

// Captures by themselves, with room for nothing more once they hold something.
class CapturesWithoutRoom : public ExporterCaptures {
 protected:
  // Five samples in as many seconds.
  void Take(int64_t begin_s) {
    const int64_t begin_ns = kFirstWindowNs + begin_s * kNsPerSecond;
    const auto slice = SliceOf(begin_ns, begin_ns + 5 * kNsPerSecond,
                               {Sampled(web_, begin_s, begin_s + 5, Armed())}, false);
    if (begin_s == 0) {
      code_.TellModules(*slice);
      namer_.LearnModules(*slice);
    }
    captures_.Take(*slice);
    recorder_.Take(*slice);
  }

  FlightRecorder recorder_;
  FrameNamer namer_{loader_, cache_, "/nonexistent"};
  ContainerNames names_{nullptr, clock_, false, nullptr};
  Captures captures_{options_.window.node, options_.window.labels, namer_, names_, 1};
};

TEST_F(CapturesWithoutRoom, TellWhatTheyLeftOut) {
  ASSERT_TRUE(captures_.Begin(Order(0, 10), recorder_));
  Take(0);
  Take(5);
  EXPECT_EQ(captures_.dropped_samples(), 5u);
  const auto finished = captures_.TakeFinished(0, true);
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].row.samples, 5);
  EXPECT_THAT(finished[0].profile.meta().comments,
              Contains("firetower: 5 samples of capture f00d are missing: no room"));
}

// Samples that found no room in the first belong to the second, or sums would lose them.
TEST_F(CapturesWithoutRoom, TakeNothingFromWhatAnotherLeftOut) {
  ASSERT_TRUE(captures_.Begin(Order(0, 10), recorder_));
  Take(0);
  Take(5);
  ASSERT_EQ(captures_.TakeFinished(13 * kNsPerSecond, false).size(), 1u);
  CaptureOrder second = Order(0, 10);
  second.id = "beef";
  ASSERT_TRUE(captures_.Begin(second, recorder_));
  const auto finished = captures_.TakeFinished(13 * kNsPerSecond, false);
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].row.also_samples, 0);
}

TEST_F(ExporterCaptures, OfMoreThanMayBeUnderWayOneIsRefused) {
  Slice5(0, {Sampled(web_, 0, 5, Armed())});
  for (size_t i = 0; i <= Captures::kMaxOpen; ++i) {
    CaptureOrder order = Order(0, 600);
    order.id = std::to_string(i);
    exporter_->Order(order);
  }
  Run();
  EXPECT_EQ(exporter_->refused_captures(), 1u);
}

TEST_F(ExporterCaptures, HoldNothingThatAnotherPolicyHasRecorded) {
  Decision others = Armed();
  others.recorded_for = {"front/other"};
  Slice5(0, {Sampled(web_, 0, 5, Armed()), Sampled(db_, 0, 5, others)});
  Slice5(5, {});
  Slice5(10, {});
  exporter_->Order(Order(0, 5));
  Run();
  ASSERT_EQ(CaptureKeys().size(), 1u);
  EXPECT_EQ(store::ReadCaptureRow(store_.objects.at(CaptureKeys()[0]))->container, "web");
}

TEST_F(ExporterCaptures, EndAtTheLatestWithTheDaemon) {
  Slice5(0, {Sampled(web_, 0, 5, Armed())});
  clock_.Advance(5 * kNsPerSecond);
  exporter_->Order(Order(0, 600));
  Run();
  ASSERT_EQ(CaptureKeys().size(), 1u);
  auto row = store::ReadCaptureRow(store_.objects.at(CaptureKeys()[0]));
  EXPECT_EQ(row->samples, 5);
  EXPECT_LE(row->duration_ns, 10 * kNsPerSecond);
}

}  // namespace
}  // namespace firetower::daemon
