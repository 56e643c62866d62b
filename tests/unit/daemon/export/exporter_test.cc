// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "profile/pprof.h"
#include "store/bundle.h"
#include "store/key.h"
#include "tests/support/direct_sink.h"
#include "tests/support/fake_proc.h"
#include "tests/support/memory_store.h"
#include "tests/unit/daemon/export/slices.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::MemoryStore;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Observer : public ExportObserver {
 public:
  void OnSlice(const Slice& slice, std::span<const ContainerSlice> containers,
               std::span<const ContainerLabels>) override {
    for (const ContainerSlice& container : containers) {
      totals[container.labels.container] += container.total;
      pods.insert(container.labels.pod);
    }
    samples += slice.attribution.container;
    if (on_slice) on_slice();
  }
  std::function<void()> on_slice;
  std::map<std::string, int64_t> totals;
  std::set<std::string> pods;
  uint64_t samples = 0;
};

class ExporterTest : public ::testing::Test {
 protected:
  ExporterTest() {
    app_ = code_.AddModule("/usr/bin/app", {"main", "step"});
    options_.window = {"node-1", kWindowNs, {false, false, false}};
    options_.run = "abcd1234";
    exporter_ = std::make_unique<Exporter>(sink_, loader_, cache_, "/nonexistent", observer_,
                                           clock_, options_);
  }

  // A whole window of one slice.
  void Window(int64_t start_ns, const std::vector<RowOf>& rows) {
    Add(SliceOf(start_ns, start_ns + kWindowNs, rows, true));
  }
  void Window(int64_t start_ns, uint64_t count = 1) {
    Window(start_ns, {{.container = web_, .frames = {Frame{app_, 0, 4}}, .count = count}});
  }
  void Add(std::unique_ptr<Slice> slice) {
    if (source_.slices.empty()) code_.TellModules(*slice);
    source_.slices.push_back(std::move(slice));
  }
  // Runs the exporter over all slices to its end.
  void Run() {
    exporter_->Start(source_);
    exporter_->Finish();
  }
  // Leaf of each stored sample.
  std::vector<std::string> StoredLeaves() {
    std::vector<std::string> leaves;
    for (const auto& [key, bytes] : store_.objects) {
      auto index = store::ReadBundleIndex(store_, key);
      for (const store::BundleEntry& entry : index->entries) {
        auto profile = profile::DecodePprof(*store::ReadBundleEntry(store_, key, entry));
        for (uint32_t i = 0; i < profile->sample_count(); ++i) {
          leaves.push_back(
              profile->FrameName(profile->location(profile->sample(i).locations[0]), 0));
        }
      }
    }
    return leaves;
  }

  struct Stored {
    std::string key;
    std::string container;
    int64_t start_ns = 0;
    int64_t samples = 0;
    bool operator==(const Stored&) const = default;
  };
  // Everything in the store, by key; each profile is read back and must agree with its row.
  std::vector<Stored> ReadStore() {
    std::vector<Stored> all;
    for (const auto& [key, bytes] : store_.objects) {
      auto index = store::ReadBundleIndex(store_, key);
      if (!index) {
        ADD_FAILURE() << key << ": " << index.error().message();
        continue;
      }
      EXPECT_TRUE(index->bad_entries.empty());
      for (const store::BundleEntry& entry : index->entries) {
        auto profile = profile::DecodePprof(*store::ReadBundleEntry(store_, key, entry));
        EXPECT_TRUE(profile);
        EXPECT_EQ(profile->Total(0), entry.row.samples);
        all.push_back({key, entry.row.container, entry.row.start_ns, entry.row.samples});
      }
    }
    return all;
  }
  int64_t StoredSamples() {
    int64_t samples = 0;
    for (const Stored& stored : ReadStore()) samples += stored.samples;
    return samples;
  }
  int64_t OpenSamples() {
    int64_t samples = 0;
    for (const store::OpenProfile& open : exporter_->OpenProfiles()) samples += open.row.samples;
    return samples;
  }

  FakeClock clock_{kNsPerSecond, kFirstWindowNs};
  MemoryStore store_;
  testing::DirectSink sink_{store_};
  Observer observer_;
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

TEST_F(ExporterTest, WritesAWindowAsOneBundle) {
  Window(kFirstWindowNs, {{.container = web_, .frames = {Frame{app_, 0, 4}}, .count = 3},
                          {.container = db_, .frames = {Frame{app_, 0, 20}}, .count = 2}});
  Run();
  std::string key =
      "v1/standard/standalone/bundle/2025-11-21/04/1763700000-60/_/node-1-abcd1234.zip";
  EXPECT_THAT(ReadStore(), ::testing::UnorderedElementsAre(Stored{key, "web", kFirstWindowNs, 3},
                                                           Stored{key, "db", kFirstWindowNs, 2}));
  EXPECT_EQ(store_.puts, 1);
  EXPECT_EQ(observer_.samples, 5u);
  EXPECT_EQ(observer_.totals["web"], 30'000'000);
  EXPECT_EQ(source_.recycled, 1);
  EXPECT_EQ(exporter_->symbol_hits(), 4u) << "two stacks, for the profile and for metrics";
}

TEST_F(ExporterTest, WritesTheOpenWindowAtItsEnd) {
  int64_t begin_ns = kFirstWindowNs + 7 * kNsPerSecond;
  Add(SliceOf(begin_ns, begin_ns + 1, {{.container = web_, .frames = {Frame{app_, 0, 4}}}}));
  Run();
  ASSERT_THAT(ReadStore(), SizeIs(1));
  EXPECT_EQ(ReadStore()[0].start_ns, begin_ns);
  EXPECT_THAT(exporter_->OpenProfiles(), IsEmpty());
}

TEST_F(ExporterTest, StoresTheNamesThatCameAfterTheWindowsLastSlice) {
  uint32_t slow = code_.AddModule("/usr/bin/slow", {});
  observer_.on_slice = [&] { code_.Load(slow, {"late"}); };
  Add(SliceOf(kFirstWindowNs, kFirstWindowNs + 1,
              {{.container = web_, .frames = {Frame{slow, 0, 4}}}}, true));
  Run();
  EXPECT_THAT(StoredLeaves(), ElementsAre("late"));
}

// The kernel's symbols cost more than the rest of a start.
TEST_F(ExporterTest, ReadsTheKernelsNamesForOthersAtOnceAndForItselfWithTheWindow) {
  testing::FakeProc proc;
  testing::WriteText(proc.root() + "/kallsyms",
                     "ffffffff81000000 T _stext\n"
                     "ffffffff81000100 T do_syscall_64\n"
                     "ffffffff81000300 T _etext\n");
  for (const bool others : {false, true}) {
    store_.objects.clear();
    SymbolLoader loader(proc.root(), cache_);
    loader.Start();
    observer_.on_slice = [&] { EXPECT_EQ(loader.Kernel() != nullptr, others); };
    exporter_ =
        std::make_unique<Exporter>(sink_, loader, cache_, proc.root(), observer_, clock_, options_);
    const Frame kernel{ModuleRegistry::kKernel, 0, 0xffffffff81000150};
    auto slice = SliceOf(kFirstWindowNs, kFirstWindowNs + kWindowNs,
                         {{.container = web_, .frames = {kernel}}}, true);
    slice->kernel_code = others;
    Add(std::move(slice));
    Run();
    EXPECT_THAT(StoredLeaves(), ElementsAre("do_syscall_64"));
    exporter_.reset();
  }
}

TEST_F(ExporterTest, WritesNothingForAnEmptyWindow) {
  Window(kFirstWindowNs, std::vector<RowOf>{});
  Run();
  EXPECT_EQ(store_.puts, 0);
  EXPECT_EQ(exporter_->dropped_samples(), 0u);
}

TEST_F(ExporterTest, WritesABundleForEachRetentionClass) {
  Window(kFirstWindowNs, {{.container = web_,
                           .frames = {Frame{app_, 0, 4}},
                           .decision = ToBoth(k8s::RetentionClass::kShort)},
                          {.container = db_,
                           .frames = {Frame{app_, 0, 4}},
                           .decision = ToBoth(k8s::RetentionClass::kLong)}});
  Run();
  std::vector<Stored> stored = ReadStore();
  ASSERT_THAT(stored, SizeIs(2));
  EXPECT_THAT(stored[0].key, ::testing::StartsWith("v1/long/"));
  EXPECT_EQ(stored[0].container, "db");
  EXPECT_THAT(stored[1].key, ::testing::StartsWith("v1/short/"));
  EXPECT_EQ(stored[1].container, "web");
}

TEST_F(ExporterTest, EndsAWindowWhoseLastSliceGrewBeyondIt) {
  // The reader was behind: the slice that should have ended the window did not.
  Add(SliceOf(kFirstWindowNs, kFirstWindowNs + kWindowNs + kNsPerSecond,
              {{.container = web_, .frames = {Frame{app_, 0, 4}}}}));
  Add(SliceOf(kFirstWindowNs + kWindowNs + kNsPerSecond, kFirstWindowNs + 2 * kWindowNs,
              {{.container = web_, .frames = {Frame{app_, 0, 4}}}}, true));
  Run();
  EXPECT_THAT(store_.objects, SizeIs(2));
}

TEST_F(ExporterTest, NeverOverwritesWhenTheClockIsSetBack) {
  Window(kFirstWindowNs, 1);
  Window(kFirstWindowNs + kWindowNs, 2);
  Window(kFirstWindowNs, 3);  // A minute back, to the same window;
  Window(kFirstWindowNs + kWindowNs, 4);
  Window(kFirstWindowNs - 60 * kWindowNs, 5);  // an hour back,
  Window(kFirstWindowNs - 59 * kWindowNs, 6);
  Window(kFirstWindowNs, 7);  // and on again.
  Run();
  EXPECT_EQ(store_.overwritten, 0u);
  std::vector<Stored> stored = ReadStore();
  ASSERT_THAT(stored, SizeIs(7));
  EXPECT_EQ(StoredSamples(), 28);
  // A query looks for a window under its own time.
  for (const Stored& one : stored) {
    auto key = store::ParseBundleKey(one.key);
    ASSERT_TRUE(key) << one.key;
    EXPECT_EQ(key->start_s, one.start_ns / kNsPerSecond);
  }
}

TEST_F(ExporterTest, ShowsASealedWindowExactlyOnce) {
  // Classes are written one after the other: a stored one is no longer open, a waiting one still
  // is.
  std::vector<int64_t> seen;
  store_.on_put = [&](const std::string&) { seen.push_back(StoredSamples() + OpenSamples()); };
  Window(kFirstWindowNs, {{.container = web_,
                           .frames = {Frame{app_, 0, 4}},
                           .count = 3,
                           .decision = ToBoth(k8s::RetentionClass::kShort)},
                          {.container = db_,
                           .frames = {Frame{app_, 0, 4}},
                           .count = 4,
                           .decision = ToBoth(k8s::RetentionClass::kLong)}});
  Run();
  EXPECT_THAT(seen, ElementsAre(7, 7));
}

TEST_F(ExporterTest, ShowsTheOpenWindowBesideASealedOne) {
  std::vector<int64_t> seen;
  store_.on_put = [&](const std::string&) { seen.push_back(OpenSamples()); };
  Add(SliceOf(kFirstWindowNs, kFirstWindowNs + 1,
              {{.container = web_, .frames = {Frame{app_, 0, 4}}, .count = 2}}));
  Window(kFirstWindowNs, 3);
  Window(kFirstWindowNs + kWindowNs, 9);
  Run();
  EXPECT_THAT(seen, ElementsAre(5, 9));
}

TEST_F(ExporterTest, ShowsWhatTheStoreHasNotTakenYet) {
  store_.refuse = 1;  // and its sink releases nothing
  Window(kFirstWindowNs, 3);
  Window(kFirstWindowNs + kWindowNs, 4);
  Run();
  EXPECT_EQ(StoredSamples(), 4);
  EXPECT_EQ(OpenSamples(), 3);
}

}  // namespace
}  // namespace firetower::daemon
