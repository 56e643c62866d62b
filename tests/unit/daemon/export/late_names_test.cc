// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/late_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "profile/pprof.h"
#include "store/bundle.h"
#include "tests/support/direct_sink.h"
#include "tests/support/fake_proc.h"
#include "tests/support/memory_store.h"
#include "tests/unit/daemon/export/slices.h"
#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeProc;
using ::firetower::testing::MemoryStore;
using ::firetower::testing::WriteText;
using symbolizer::ElfBuilder;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr int kLongMs = 60'000;  // the thread answers in microseconds
constexpr uint32_t kFunctions = 500;
constexpr uint64_t kFunctionBytes = 16;

class Silent : public ExportObserver {
 public:
  void OnSlice(const Slice&, std::span<const ContainerSlice>,
               std::span<const ContainerLabels>) override {}
};

// Three programs, of whose symbols the cache has room for one's.
class LateNamesTest : public ::testing::Test {
 protected:
  LateNamesTest() {
    options_.window = {"node-1", kWindowNs, {false, false, false}};
    options_.run = "abcd1234";
    for (uint8_t i = 0; i < 3; ++i) AddProgram(i);
    loader_.Start();
  }
  ~LateNamesTest() override { loader_.Stop(); }

  std::string PathOf(uint32_t i) const { return "/bin/program" + std::to_string(i); }
  void AddProgram(uint8_t i) {
    const std::string id = {1, 2, static_cast<char>(i)};
    std::vector<ElfBuilder::TestSymbol> symbols;
    for (uint32_t f = 0; f < kFunctions; ++f) {
      symbols.push_back({.name = "program" + std::to_string(i) + "_f" + std::to_string(f),
                         .value = 0x401000 + f * kFunctionBytes,
                         .size = kFunctionBytes});
    }
    ElfBuilder builder;
    builder.AddCode(0x401000, kFunctions * kFunctionBytes);
    builder.AddSymbols(SHT_SYMTAB, symbols);
    builder.AddSection(".note.gnu.build-id", SHT_NOTE,
                       symbolizer::MakeNote("GNU", NT_GNU_BUILD_ID, id));
    WriteText(proc_.Of(kPid + i) + "/root" + PathOf(i), builder.Build());
    const uint8_t bytes[3] = {1, 2, i};
    programs_.push_back(modules_.Intern({PathOf(i), bytes, 1, 1}));
    // The resolver does this with each stack.
    modules_.Get(programs_[i])->NoteSeen(kPid + i, 1, 0x10000, 0x20000);
  }
  void Want(uint32_t i) {
    Process process;
    process.pid = kPid + i;
    loader_.Want(modules_.Get(programs_[i]), process, {0x10000, 0x20000, 0, programs_[i]});
    loader_.WaitIdle(kLongMs);
  }
  // A function of that program.
  RowOf RowIn(uint32_t i, uint64_t function) const {
    const uint64_t offset = ElfBuilder::kCodeFileOffset + function * kFunctionBytes + 3;
    return {.container = web_, .frames = {Frame{programs_[i], 0, offset}}};
  }
  void AddSlice(int64_t begin_ns, int64_t end_ns, const std::vector<RowOf>& rows, bool ends) {
    std::unique_ptr<Slice> slice = SliceOf(begin_ns, end_ns, rows, ends);
    if (source_.slices.empty()) {
      for (uint32_t id = 0; id < modules_.size(); ++id)
        slice->modules.push_back({id, modules_.Get(id)});
    }
    source_.slices.push_back(std::move(slice));
  }
  void Run() {
    Exporter exporter(sink_, loader_, cache_, proc_.root(), observer_, clock_, options_);
    exporter.Start(source_);
    exporter.Finish();
  }
  static std::vector<std::string> LeavesOf(const profile::Profile& profile) {
    std::vector<std::string> leaves;
    for (uint32_t s = 0; s < profile.sample_count(); ++s) {
      leaves.push_back(profile.FrameName(profile.location(profile.sample(s).locations[0]), 0));
    }
    return leaves;
  }
  // Returns for each window the leaves of its only container.
  std::vector<std::vector<std::string>> StoredLeaves() {
    std::vector<std::vector<std::string>> windows;
    for (const auto& [key, bytes] : store_.objects) {
      auto index = store::ReadBundleIndex(store_, key);
      for (const store::BundleEntry& entry : index->entries) {
        windows.push_back(
            LeavesOf(*profile::DecodePprof(*store::ReadBundleEntry(store_, key, entry))));
      }
    }
    return windows;
  }

  static constexpr uint32_t kPid = 70;
  FakeClock clock_{kNsPerSecond, kFirstWindowNs};
  FakeProc proc_;
  MemoryStore store_;
  testing::DirectSink sink_{store_};
  Silent observer_;
  // More than a table of kFunctions, less than two.
  symbolizer::SymbolCache cache_{kFunctions * 50};
  ModuleRegistry modules_;
  SymbolLoader loader_{proc_.root(), cache_};
  ExportOptions options_;
  ListedSlices source_;
  std::shared_ptr<const Container> web_ = ContainerCalled("web");
  std::vector<uint32_t> programs_;
};

TEST_F(LateNamesTest, TheCacheHasRoomForOneTable) {
  for (uint32_t i = 0; i < 3; ++i) {
    Want(i);
    EXPECT_EQ(cache_.counters().tables, 1u);
    EXPECT_EQ(cache_.counters().too_large, 0u);
  }
  EXPECT_EQ(cache_.counters().evictions, 2u);
}

// Each slice is the only one of its window, so no later stack can request a missing table.
TEST_F(LateNamesTest, NamesEveryFrameInEachWindowThoughTablesPushOneAnotherOut) {
  for (uint32_t i = 0; i < 3; ++i) Want(i);
  for (int64_t window = 0; window < 3; ++window) {
    const int64_t begin_ns = kFirstWindowNs + window * kWindowNs;
    AddSlice(begin_ns, begin_ns + kWindowNs, {RowIn(0, 7), RowIn(1, 8), RowIn(2, 9)}, true);
  }
  Run();
  const auto windows = StoredLeaves();
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_THAT(windows, Each(UnorderedElementsAre("program0_f7", "program1_f8", "program2_f9")));
  EXPECT_EQ(cache_.counters().tables, 1u) << "within its budget";
}

TEST_F(LateNamesTest, NamesEveryFrameOfACapture) {
  for (uint32_t i = 0; i < 3; ++i) Want(i);
  std::vector<RowOf> rows = {RowIn(0, 7), RowIn(1, 8), RowIn(2, 9)};
  for (RowOf& row : rows) {
    row.decision.to_metrics = row.decision.to_store = false;
    row.decision.record_ns = 30 * kNsPerSecond;
    row.decision.recorded_for = {"shop/spikes"};
    row.seconds = {1};
  }
  AddSlice(kFirstWindowNs, kFirstWindowNs + 5 * kNsPerSecond, rows, false);
  CaptureOrder order;
  order.id = "f00d";
  order.policy = "shop/spikes";
  order.end_ns = 5 * kNsPerSecond;
  order.begin_wall_ns = kFirstWindowNs;
  Exporter exporter(sink_, loader_, cache_, proc_.root(), observer_, clock_, options_);
  exporter.Order(order);
  exporter.Start(source_);
  exporter.Finish();
  ASSERT_EQ(store_.objects.size(), 1u);
  const store::ObjectStore& stored = store_;
  auto profile = profile::DecodePprof(*stored.Get(store_.objects.begin()->first));
  ASSERT_TRUE(profile);
  EXPECT_THAT(LeavesOf(*profile),
              UnorderedElementsAre("program0_f7", "program1_f8", "program2_f9"));
}

// A process that was there when its stack was taken, and the parent that outlives it.
TEST_F(LateNamesTest, ReadsTheFileOfAProcessThatIsGoneInItsParentsRoot) {
  for (uint32_t i = 0; i < 3; ++i) Want(i);
  std::filesystem::create_directories(proc_.Of(40) + "/root/bin");
  std::filesystem::rename(proc_.Of(kPid) + "/root" + PathOf(0), proc_.Of(40) + "/root" + PathOf(0));
  std::filesystem::remove_all(proc_.Of(kPid));
  modules_.Get(programs_[0])->NoteSeen(39, 40, 0x10000, 0x20000);
  AddSlice(kFirstWindowNs, kFirstWindowNs + kWindowNs, {RowIn(0, 7)}, true);
  Run();
  EXPECT_THAT(StoredLeaves(), ElementsAre(ElementsAre("program0_f7")));
}

// Its pid, and the place of its mapping, are another program's by now.
TEST_F(LateNamesTest, NamesNothingByAnotherFileInTheSamePlace) {
  for (uint32_t i = 0; i < 3; ++i) Want(i);
  std::filesystem::create_directories(proc_.Of(kPid) + "/map_files");
  std::filesystem::rename(proc_.Of(kPid + 1) + "/root" + PathOf(1),
                          proc_.Of(kPid) + "/map_files/10000-20000");
  std::filesystem::remove_all(proc_.Of(kPid) + "/root");
  AddSlice(kFirstWindowNs, kFirstWindowNs + kWindowNs, {RowIn(0, 7)}, true);
  Run();
  EXPECT_THAT(StoredLeaves(), ElementsAre(ElementsAre("[program0]+0x1073")));
  EXPECT_EQ(modules_.Get(programs_[0])->symbols, Module::kWanted) << "the next stack asks";
}

TEST_F(LateNamesTest, AsksForNothingThatNoStackHasShown) {
  auto unseen = std::make_shared<Module>();
  EXPECT_EQ(loader_.ReadAgain(unseen, kLongMs), nullptr);
}

TEST_F(LateNamesTest, AnswersTheOneThatAsks) {
  for (uint32_t i = 0; i < 3; ++i) {
    auto table = loader_.ReadAgain(modules_.Get(programs_[i]), kLongMs);
    ASSERT_NE(table, nullptr);
    auto symbol = table->Find(ElfBuilder::kCodeFileOffset);
    ASSERT_TRUE(symbol);
    EXPECT_EQ(symbol->name, "program" + std::to_string(i) + "_f0");
  }
}

}  // namespace
}  // namespace firetower::daemon
