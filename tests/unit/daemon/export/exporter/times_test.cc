// SPDX-License-Identifier: Apache-2.0
// When samples were taken, from slices to the side entries of bundles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "daemon/export/exporter.h"
#include "profile/times/timed_profile.h"
#include "store/bundle.h"
#include "tests/support/direct_sink.h"
#include "tests/support/memory_store.h"
#include "tests/unit/daemon/export/slices.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::MemoryStore;

class ExporterTimes : public ::testing::Test {
 protected:
  void Run(bool times = true) {
    ExportOptions options;
    options.window = {"node-1", kWindowNs, {false, false, false, false, times}};
    options.run = "abcd1234";
    Exporter exporter(sink_, loader_, cache_, "/nonexistent", observer_, clock_, options);
    exporter.Start(source_);
    exporter.Finish();
  }
  // Samples of `app_` at these seconds, the leaf at `offset`: "main" or "step".
  RowOf Sampled(std::vector<int64_t> seconds, uint64_t offset) {
    RowOf row{.container = container_, .frames = {Frame{app_, 0, offset}}};
    row.count = seconds.size();
    row.seconds = std::move(seconds);
    return row;
  }
  void Add(int64_t begin_s, int64_t end_s, const std::vector<RowOf>& rows) {
    auto slice = SliceOf(kFirstWindowNs + begin_s * kNsPerSecond,
                         kFirstWindowNs + end_s * kNsPerSecond, rows, end_s % 60 == 0);
    if (source_.slices.empty()) code_.TellModules(*slice);
    source_.slices.push_back(std::move(slice));
  }
  // The seconds of each function's samples, of all windows.
  std::multimap<std::string, int64_t> Taken() {
    std::multimap<std::string, int64_t> taken;
    entries_ = 0;
    for (const auto& [key, bytes] : store_.objects) {
      const auto index = store::ReadBundleIndex(bytes.size(), store::ReaderOf(bytes));
      EXPECT_TRUE(index);
      for (const store::BundleEntry& entry : index->entries) {
        const auto pprof = store::ReadBundleEntry(entry, store::ReaderOf(bytes));
        const auto times = store::ReadBundleTimes(entry, store::ReaderOf(bytes));
        EXPECT_TRUE(pprof && times);
        if (!times->empty()) ++entries_;
        const auto timed = profile::DecodeTimed(*pprof, *times);
        EXPECT_TRUE(timed) << timed.error().message();
        for (const profile::SampleTimes::Taken& one : timed->times.taken()) {
          const profile::Profile& profile = timed->profile;
          const profile::Sample sample = profile.sample(one.sample);
          taken.emplace(profile.FrameName(profile.location(sample.locations[0]), 0),
                        timed->times.SlotOf(one) / 50 - kFirstWindowNs / kNsPerSecond);
        }
      }
    }
    return taken;
  }

  MemoryStore store_;
  ::firetower::testing::DirectSink sink_{store_};
  symbolizer::SymbolCache cache_;
  KnownCode code_{cache_};
  SymbolLoader loader_{"/nonexistent", cache_};
  const uint32_t app_ = code_.AddModule("/usr/bin/app", {"main", "step"});
  std::shared_ptr<const Container> container_ = ContainerCalled("web");
  NoObserver observer_;
  FakeClock clock_{0, kFirstWindowNs};
  ListedSlices source_;
  int entries_ = 0;
};

using Seconds = std::multimap<std::string, int64_t>;

TEST_F(ExporterTimes, GoWithTheWindowsOfTheirSamples) {
  Add(0, 5, {Sampled({1, 3}, 4), Sampled({3}, 20)});
  Add(5, 60, {Sampled({7, 59}, 20)});
  // This one waited for its stack's unwind table since the window before.
  Add(60, 65, {Sampled({58, 61}, 4)});
  Run();
  EXPECT_EQ(Taken(), (Seconds{{"main", 1},
                              {"main", 3},
                              {"main", 58},
                              {"main", 61},
                              {"step", 3},
                              {"step", 7},
                              {"step", 59}}));
  EXPECT_EQ(entries_, 2);
}

TEST_F(ExporterTimes, AreLeftOutOnRequest) {
  Add(0, 60, {Sampled({1, 3}, 4)});
  Run(/*times=*/false);
  EXPECT_TRUE(Taken().empty());
  EXPECT_EQ(entries_, 0);
}

// A part of them would show rhythms that are none.
TEST_F(ExporterTimes, AreNotKeptInPart) {
  Add(0, 5, {Sampled({1, 3}, 4)});
  auto full = SliceOf(kFirstWindowNs + 5 * kNsPerSecond, kFirstWindowNs + 60 * kNsPerSecond,
                      {Sampled({7}, 4)}, true);
  full->timed.resize(Slice::kMaxTimed, full->timed[0]);
  source_.slices.push_back(std::move(full));
  Run();
  EXPECT_EQ(entries_, 0);
}

}  // namespace
}  // namespace firetower::daemon
