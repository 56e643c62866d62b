// SPDX-License-Identifier: Apache-2.0
// Windows whose containers have no names yet.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "daemon/export/exporter.h"
#include "profile/pprof.h"
#include "store/bundle.h"
#include "tests/support/direct_sink.h"
#include "tests/support/memory_store.h"
#include "tests/unit/daemon/export/pods.h"
#include "tests/unit/daemon/export/slices.h"

namespace firetower::daemon {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr const char* kUid = "48d24770-3d7e-40e7-a11a-ed1f7d8d2b22";
constexpr const char* kId = "0bf1a356c13995d18a9b5658bc5ebb30d09dd920912630dd01b5cd32fef8fff7";

// Does something before it gives a slice, on the export thread: what time brings.
class ActingSlices : public SliceSource {
 public:
  struct Act {
    std::function<void()> before;
    std::unique_ptr<Slice> slice;
  };
  std::unique_ptr<Slice> TryPop() override {
    if (acts.empty()) return nullptr;
    Act act = std::move(acts.front());
    acts.pop_front();
    if (act.before) act.before();
    return std::move(act.slice);
  }
  void Recycle(std::unique_ptr<Slice>) override {}
  bool finished() const override { return true; }
  std::deque<Act> acts;
};

class Totals : public ExportObserver {
 public:
  void OnSlice(const Slice&, std::span<const ContainerSlice> containers,
               std::span<const ContainerLabels>) override {
    for (const ContainerSlice& one : containers) {
      totals[fmt::format("{}/{}/{}", one.labels.ns, one.labels.pod, one.labels.container)] +=
          one.total;
    }
  }
  std::map<std::string, int64_t> totals;
};

class ExporterNamesTest : public ::testing::Test {
 protected:
  ExporterNamesTest() {
    app_ = code_.AddModule("/usr/bin/app", {"main"});
    ExportOptions options;
    options.window = {"node-1", kWindowNs, {false, false, false}};
    options.run = "abcd1234";
    exporter_ = std::make_unique<Exporter>(sink_, loader_, cache_, "/nonexistent", observer_,
                                           clock_, options, pods_.Source());
    pods_.Publish();
  }

  RowOf Ran(const std::shared_ptr<const Container>& container, uint64_t count) {
    return {.container = container, .frames = {Frame{app_, 0, 4}}, .count = count};
  }
  // Five seconds of the `number`th window pass before it; `ends` the window.
  void Slice(int number, const std::vector<RowOf>& rows, std::function<void()> before = {},
             bool ends = false) {
    const int64_t begin_ns = kFirstWindowNs + number * kWindowNs;
    auto slice = SliceOf(begin_ns, begin_ns + 5 * kNsPerSecond, rows, ends);
    if (source_.acts.empty()) code_.TellModules(*slice);
    source_.acts.push_back({[this, before = std::move(before)] {
                              clock_.Advance(5 * kNsPerSecond);
                              if (before) before();
                            },
                            std::move(slice)});
  }
  void Run() {
    exporter_->Start(source_);
    exporter_->Finish();
  }

  struct Stored {
    std::string name;  // namespace/pod/container
    int64_t samples = 0;
    bool operator==(const Stored&) const = default;
  };
  std::vector<Stored> ReadStore() {
    std::vector<Stored> all;
    for (const auto& [key, bytes] : store_.objects) {
      auto index = store::ReadBundleIndex(store_, key);
      for (const store::BundleEntry& entry : index->entries) {
        auto profile = profile::DecodePprof(*store::ReadBundleEntry(store_, key, entry));
        rows_.push_back(entry.row);
        comments_.push_back(profile->meta().comments.front());
        all.push_back(
            {fmt::format("{}/{}/{}", entry.row.namespace_name, entry.row.pod, entry.row.container),
             profile->Total(0)});
      }
    }
    return all;
  }
  std::vector<std::string> Open() {
    std::vector<std::string> names;
    for (const store::OpenProfile& open : exporter_->OpenProfiles())
      names.push_back(fmt::format("{} {}", open.row.pod, open.row.samples));
    return names;
  }

  FakeClock clock_{1000 * kNsPerSecond, kFirstWindowNs};
  ::firetower::testing::MemoryStore store_;
  ::firetower::testing::DirectSink sink_{store_};
  Totals observer_;
  symbolizer::SymbolCache cache_;
  KnownCode code_{cache_};
  SymbolLoader loader_{"/nonexistent", cache_};
  FakePods pods_;
  std::unique_ptr<Exporter> exporter_;
  ActingSlices source_;
  std::shared_ptr<const Container> cart_ =
      ContainerAt(fmt::format("/kubepods/besteffort/pod{}/{}", kUid, kId));
  std::shared_ptr<const Container> unit_ = ContainerAt("/system.slice/sshd.service");
  k8s::Pod pod_ = PodCalled("checkout-1", kUid, {{"cart", kId}});
  std::vector<store::CatalogRow> rows_;
  std::vector<std::string> comments_;
  uint32_t app_ = 0;
};

TEST_F(ExporterNamesTest, AKnownContainerIsCalledAfterItsPod) {
  pods_.Add(pod_);
  Slice(0, {Ran(cart_, 3)}, {}, true);
  Run();
  EXPECT_THAT(ReadStore(), ElementsAre(Stored{"shop/checkout-1/cart", 3}));
  EXPECT_EQ(rows_[0].workload, "checkout");
  EXPECT_EQ(rows_[0].pod_uid, kUid);
  EXPECT_EQ(rows_[0].container_id, kId);
  EXPECT_EQ(comments_[0],
            "namespace=shop pod=checkout-1 container=cart node=node-1 workload=checkout");
  EXPECT_EQ(exporter_->pod_samples().named, 3u);
}

// The container began 5 s before its window's end; its pod object comes 20 s later.
TEST_F(ExporterNamesTest, AWindowWaitsForTheNamesOfItsContainers) {
  std::vector<std::string> while_awaited;
  Slice(0, {Ran(cart_, 3), Ran(unit_, 1)}, {}, true);
  for (int i = 0; i < 3; ++i) Slice(1, {Ran(cart_, 2), Ran(unit_, 1)});
  Slice(1, {Ran(cart_, 2)}, [&] {
    EXPECT_THAT(store_.objects, IsEmpty());
    while_awaited = Open();
    pods_.Add(pod_);
  });
  Slice(1, {}, [&] {
    EXPECT_THAT(store_.objects, SizeIs(1)) << "with the slice that brought the name";
    EXPECT_THAT(Open(), UnorderedElementsAre("checkout-1 8", "- 3"));
  });
  Run();
  EXPECT_THAT(while_awaited, UnorderedElementsAre("- 1", "- 3")) << "only what has a name is shown";
  EXPECT_THAT(ReadStore(), UnorderedElementsAre(
                               Stored{"shop/checkout-1/cart", 3}, Stored{"-/-/sshd.service", 1},
                               Stored{"shop/checkout-1/cart", 8}, Stored{"-/-/sshd.service", 3}));
  EXPECT_THAT(comments_, Contains(HasSubstr("pod=checkout-1 container=cart")).Times(2));
  EXPECT_EQ(observer_.totals["shop/checkout-1/cart"], 11 * 10'000'000) << "from the first sample";
  EXPECT_EQ(observer_.totals.size(), 2u) << "and under one name";
  EXPECT_EQ(exporter_->pod_samples().late, 11u);
}

TEST_F(ExporterNamesTest, AWindowGoesWithoutTheNameThatDoesNotCome) {
  Slice(0, {Ran(cart_, 3)}, {}, true);
  for (int i = 0; i < 8; ++i) Slice(1, {});
  Slice(1, {}, [&] { EXPECT_THAT(store_.objects, IsEmpty()); });
  Slice(1, {}, [&] { EXPECT_THAT(store_.objects, SizeIs(1)); });
  Run();
  EXPECT_THAT(ReadStore(), ElementsAre(Stored{fmt::format("-/{}/0bf1a356c139", kUid), 3}));
  EXPECT_EQ(exporter_->pod_samples().missing, 3u);
}

TEST_F(ExporterNamesTest, ItsEndWaitsForNoName) {
  Slice(0, {Ran(cart_, 3)});
  Run();
  EXPECT_THAT(ReadStore(), ElementsAre(Stored{fmt::format("-/{}/0bf1a356c139", kUid), 3}));
}

TEST_F(ExporterNamesTest, WindowsWaitInOrderAndNotBeyondTheirNumber) {
  const int windows = static_cast<int>(Exporter::kMaxSealed) + 2;
  for (int i = 0; i < windows; ++i) {
    // Each has its own container, whose name never comes, and no time passes.
    const auto container = ContainerAt(fmt::format("/kubepods/pod{}/{:064d}", kUid, i));
    auto slice = SliceOf(kFirstWindowNs + i * kWindowNs, kFirstWindowNs + i * kWindowNs + 1,
                         {Ran(container, 1)}, true);
    if (i == 0) code_.TellModules(*slice);
    source_.acts.push_back({{}, std::move(slice)});
  }
  size_t stored = 0;
  source_.acts.push_back({[&] { stored = store_.objects.size(); },
                          SliceOf(kFirstWindowNs + windows * kWindowNs,
                                  kFirstWindowNs + windows * kWindowNs + 1, {})});
  Run();
  EXPECT_EQ(stored, 2u);
  EXPECT_THAT(store_.objects, SizeIs(windows));
}

TEST_F(ExporterNamesTest, WhatOptedOutIsNeitherShownNorStored) {
  pod_.opted_out = true;
  Slice(0, {Ran(cart_, 3), Ran(unit_, 1)});
  Slice(
      0, {Ran(cart_, 4)}, [&] { pods_.Add(pod_); }, true);
  Slice(
      1, {Ran(cart_, 5), Ran(unit_, 1)}, [&] { EXPECT_THAT(Open(), IsEmpty()); }, true);
  Run();
  EXPECT_THAT(ReadStore(),
              ElementsAre(Stored{"-/-/sshd.service", 1}, Stored{"-/-/sshd.service", 1}));
  EXPECT_EQ(observer_.totals.count("shop/checkout-1/cart"), 0u);
  EXPECT_EQ(exporter_->pod_samples().opted_out, 12u);
}

TEST_F(ExporterNamesTest, WhatOptedOutAfterItsWindowIsLeftOutToo) {
  pod_.opted_out = true;
  Slice(0, {Ran(cart_, 3), Ran(unit_, 1)}, {}, true);
  Slice(1, {}, [&] { pods_.Add(pod_); });
  Run();
  EXPECT_THAT(ReadStore(), ElementsAre(Stored{"-/-/sshd.service", 1}));
  EXPECT_EQ(exporter_->pod_samples().opted_out, 3u);
}

}  // namespace
}  // namespace firetower::daemon
