// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/frame_namer.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/fake_proc.h"
#include "tests/unit/daemon/export/slices.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeProc;
using ::firetower::testing::WriteText;

class FrameNamerTest : public ::testing::Test {
 protected:
  FrameNamerTest() { app_ = code_.AddModule("/usr/bin/app", {"main", "_ZN4shop5ServeEi"}); }

  void Begin() {
    Slice slice;
    code_.TellModules(slice);
    namer_.LearnModules(slice);
    namer_.BeginSlice();
  }
  // A process in a pid namespace of its own, where it is number 1.
  void WritePerfMap(uint32_t pid, const std::string& text, uint64_t start_ticks = 1000) {
    proc_.SetStat(pid, start_ticks);
    WriteText(proc_.Of(pid) + "/status", "Name:\tnode\nPid:\t" + std::to_string(pid) +
                                             "\nNSpid:\t" + std::to_string(pid) + "\t1\n");
    WriteText(proc_.Of(pid) + "/root/tmp/perf-1.map", text);
  }

  FakeProc proc_;
  symbolizer::SymbolCache cache_;
  KnownCode code_{cache_};
  SymbolLoader loader_{proc_.root(), cache_};
  FrameNamer namer_{loader_, cache_, proc_.root()};
  uint32_t app_ = 0;
};

TEST_F(FrameNamerTest, NamesAFunctionOfAFile) {
  Begin();
  FrameName name = namer_.Name({app_, 0, 16 + 3});
  EXPECT_TRUE(name.named);
  EXPECT_EQ(name.name(), "shop::Serve(int)");
  EXPECT_EQ(name.system_name(), "_ZN4shop5ServeEi");
  EXPECT_EQ(name.address, KnownCode::kVaddr + 16 + 3);
  EXPECT_EQ(namer_.hits(), 1u);
}

TEST_F(FrameNamerTest, NamesNothingBeyondASymbolsEnd) {
  Begin();
  FrameName name = namer_.Name({app_, 0, 32});
  EXPECT_FALSE(name.named);
  EXPECT_EQ(name.name(), "[app]+0x20");
  EXPECT_EQ(name.address, KnownCode::kVaddr + 32);
  EXPECT_EQ(namer_.misses(), 1u);
}

TEST_F(FrameNamerTest, TellsWhyFramesHaveNoName) {
  const uint32_t other = code_.AddModule("/usr/bin/other", {});
  Slice slice;
  code_.TellModules(slice);
  namer_.LearnModules(slice);
  namer_.BeginSlice();
  const auto loss_of = [](const NameFacts& facts, NameLoss loss) {
    return facts.losses[static_cast<size_t>(loss)];
  };
  namer_.Name({app_, 0, 16 + 3});
  namer_.Name({app_, 0, 0x5000});
  namer_.Name({ModuleRegistry::kJit, 7, 0x7000});
  namer_.Name({ModuleRegistry::kUnknown, 7, 0x7000});
  namer_.NameAgain({ModuleRegistry::kUnknown, 7, 0x7000});
  const NameFacts facts = namer_.TakeFacts();
  EXPECT_EQ(facts.frames, 4u);
  EXPECT_EQ(loss_of(facts, NameLoss::kNoSymbol).frames, 1u);
  EXPECT_EQ(loss_of(facts, NameLoss::kNoSymbol).files, 1u);
  EXPECT_EQ(loss_of(facts, NameLoss::kNoSymbol).example, code_.module(app_).path);
  EXPECT_EQ(loss_of(facts, NameLoss::kMemory).frames, 1u);
  EXPECT_EQ(loss_of(facts, NameLoss::kUnmapped).frames, 1u);

  namer_.BeginSlice();
  namer_.Name({other, 7, 0x10});
  slice.modules.back().module->unread.store(Unread::kDenied);
  namer_.Name({other, 7, 0x10});
  const NameFacts later = namer_.TakeFacts();
  EXPECT_EQ(later.frames, 2u) << "since the last call";
  EXPECT_EQ(loss_of(later, NameLoss::kNoSymbol).frames, 0u);
  EXPECT_EQ(loss_of(later, NameLoss::kNotYet).frames, 1u);
  EXPECT_EQ(loss_of(later, NameLoss::kDenied).frames, 1u);
  EXPECT_EQ(loss_of(later, NameLoss::kDenied).files, 1u);
  EXPECT_EQ(loss_of(later, NameLoss::kDenied).example, "/usr/bin/other");
}

TEST_F(FrameNamerTest, AsksAgainForATableThatWasEvicted) {
  code_.module(app_).symbols = Module::kLoaded;
  cache_.Erase(code_.module(app_).cache_key);
  Begin();
  EXPECT_FALSE(namer_.Name({app_, 0, 3}).named);
  EXPECT_EQ(code_.module(app_).symbols, Module::kWanted);
}

TEST_F(FrameNamerTest, DoesNotAskAgainForAFileWithoutSymbols) {
  code_.module(app_).symbols = Module::kLoaded;
  cache_.InsertNegative(code_.module(app_).cache_key);
  Begin();
  EXPECT_FALSE(namer_.Name({app_, 0, 3}).named);
  EXPECT_EQ(code_.module(app_).symbols, Module::kLoaded);
}

TEST_F(FrameNamerTest, SeesATableInTheNextSlice) {
  uint32_t late = code_.AddModule("/usr/lib/late.so", {});
  Begin();
  EXPECT_FALSE(namer_.Name({late, 0, 3}).named);
  std::vector<symbolizer::LoadSegment> segments = {{0, 0, 0x1000, true}};
  std::vector<symbolizer::SymbolTable::Range> ranges = {{0, 16, 0, 0}};
  cache_.Insert(
      code_.module(late).cache_key,
      std::make_shared<symbolizer::SymbolTable>(0, segments, ranges, std::string("late_one\0", 9)));
  namer_.BeginSlice();
  EXPECT_EQ(namer_.Name({late, 0, 3}).name(), "late_one");
}

TEST_F(FrameNamerTest, NamesCompiledCodeByItsProcessesOwnMap) {
  WritePerfMap(7, "1000 100 JS:~serve /app.js\n");
  WritePerfMap(8, "1000 100 JS:~other /app.js\n");
  Begin();
  EXPECT_EQ(namer_.Name({ModuleRegistry::kJit, 7, 0x1010}).name(), "JS:~serve /app.js");
  EXPECT_EQ(namer_.Name({ModuleRegistry::kJit, 8, 0x1010}).name(), "JS:~other /app.js");
  EXPECT_EQ(namer_.Name({ModuleRegistry::kJit, 8, 0x9000}).name(), "[jit]+0x9000");
  EXPECT_EQ(namer_.Name({ModuleRegistry::kJit, 9, 0x1010}).name(), "[jit]+0x1010") << "no process";
}

TEST_F(FrameNamerTest, ReadsAGrownMapWithTheNextSlice) {
  WritePerfMap(7, "1000 100 first\n");
  Begin();
  EXPECT_FALSE(namer_.Name({ModuleRegistry::kJit, 7, 0x2010}).named);
  WritePerfMap(7, "1000 100 first\n2000 100 second\n");
  namer_.BeginSlice();
  EXPECT_EQ(namer_.Name({ModuleRegistry::kJit, 7, 0x2010}).name(), "second");
}

TEST_F(FrameNamerTest, KeepsTheMapOfAProcessThatIsGone) {
  WritePerfMap(7, "1000 100 first\n");
  Begin();
  EXPECT_EQ(namer_.Name({ModuleRegistry::kJit, 7, 0x1010}).name(), "first");
  proc_.End(7);
  namer_.BeginSlice();
  EXPECT_EQ(namer_.Name({ModuleRegistry::kJit, 7, 0x1010}).name(), "first");
}

// Files with one build id: `whole` with its functions, `stripped` with one that it exports.
class StrippedTest : public FrameNamerTest {
 protected:
  StrippedTest() {
    stripped_ = code_.AddModule("/app", {"exported"});
    whole_ = Add("/whole", {"exported", "hidden"}, 17);
    code_.module(stripped_).SetFoundBuildId("b1d");
  }
  uint32_t Add(const std::string& path, const std::vector<std::string>& functions, uint64_t hash) {
    const uint32_t id = code_.AddModule(path, functions);
    const Module& module = code_.module(id);
    module.SetFoundBuildId("b1d");
    module.own_names = static_cast<uint32_t>(functions.size());
    module.names_hash = hash;
    return id;
  }
  uint32_t stripped_ = 0;
  uint32_t whole_ = 0;
};

TEST_F(StrippedTest, HasTheNamesOfTheWholeFile) {
  Begin();
  EXPECT_EQ(namer_.Name({stripped_, 0, 3}).name(), "exported");
  EXPECT_EQ(namer_.Name({stripped_, 0, 16 + 3}).name(), "hidden");
  EXPECT_EQ(namer_.Name({stripped_, 0, 32 + 3}).name(), "[app]+0x23") << "its own path";
  EXPECT_EQ(namer_.Name({app_, 0, 3}).name(), "main") << "another build id";
}

TEST_F(StrippedTest, HasThemFromTheSliceOnInWhichTheyCame) {
  const Module& whole = code_.module(whole_);
  whole.own_names = 0;
  Begin();
  EXPECT_EQ(namer_.Name({stripped_, 0, 16 + 3}).name(), "[app]+0x13");
  whole.own_names = 2;
  namer_.BeginSlice();
  EXPECT_EQ(namer_.Name({stripped_, 0, 16 + 3}).name(), "hidden");
}

TEST_F(StrippedTest, HasTheNamesOfTheFileWithMost) {
  Add("/more", {"exported", "hidden", "static"}, 18);
  Begin();
  EXPECT_EQ(namer_.Name({stripped_, 0, 32 + 3}).name(), "static");
}

TEST_F(StrippedTest, HasNoneWhereTwoFilesNameItsCodeDifferently) {
  Add("/other", {"exported", "renamed"}, 18);
  Begin();
  EXPECT_EQ(namer_.Name({stripped_, 0, 3}).name(), "exported");
  EXPECT_EQ(namer_.Name({stripped_, 0, 16 + 3}).name(), "[app]+0x13");
  EXPECT_EQ(namer_.Name({whole_, 0, 16 + 3}).name(), "hidden");
}

TEST_F(StrippedTest, IsLookedAtAgainWhileTheOthersTableIsNotThere) {
  cache_.Erase(code_.module(whole_).cache_key);
  Begin();
  EXPECT_EQ(namer_.Name({stripped_, 0, 3}).name(), "exported");
  const FrameName late = namer_.Name({stripped_, 0, 16 + 3});
  EXPECT_EQ(late.name(), "[app]+0x13");
  EXPECT_FALSE(late.settled);
}

TEST_F(StrippedTest, ThatWasNotReadMayHaveNamesOfItsOwn) {
  cache_.Erase(code_.module(stripped_).cache_key);
  Begin();
  EXPECT_FALSE(namer_.Name({stripped_, 0, 3}).named);
}

// Lines that have to be read first, which takes some time of the clock.
class SlowFrames : public symbolizer::SourceFrames {
 public:
  SlowFrames(FakeClock& clock, int64_t each_ns) : clock_(clock), each_ns_(each_ns) {}
  void Find(uint64_t elf_vaddr, std::vector<symbolizer::SourceFrame>& out) const override {
    if (read_.insert(elf_vaddr).second) clock_.Advance(each_ns_);
    out.push_back({.file = "/src/app.cc", .line = static_cast<uint32_t>(elf_vaddr & 0xff)});
  }
  bool IsReady(uint64_t elf_vaddr) const override { return read_.contains(elf_vaddr); }
  size_t bytes() const override { return 0; }

 private:
  FakeClock& clock_;
  int64_t each_ns_;
  mutable std::set<uint64_t> read_;
};

TEST_F(FrameNamerTest, ReadsLinesForSoLongASliceAndGoesOnWithTheNext) {
  FakeClock clock(0, 0);
  FrameNamer namer{loader_, cache_, proc_.root(), clock};
  code_.Load(app_, {"main"}, std::make_shared<SlowFrames>(clock, FrameNamer::kMaxReadNs / 2));
  Slice slice;
  code_.TellModules(slice);
  namer.LearnModules(slice);
  namer.BeginSlice();
  EXPECT_EQ(namer.Name({app_, 0, 1}).lines.at(0).line, 1u);
  EXPECT_EQ(namer.Name({app_, 0, 2}).lines.at(0).line, 2u);
  FrameName late = namer.Name({app_, 0, 3});
  EXPECT_FALSE(late.settled);
  EXPECT_EQ(late.name(), "main") << "its symbol until then";
  EXPECT_EQ(late.lines.at(0).line, 0u);
  EXPECT_TRUE(namer.Name({app_, 0, 2}).settled) << "what was read is there";
  namer.BeginSlice();
  late = namer.NameAgain({app_, 0, 3});
  EXPECT_TRUE(late.settled);
  EXPECT_EQ(late.lines.at(0).line, 3u);
}

TEST_F(FrameNamerTest, NamesNothingByTheMapOfAnotherProcessThatHadThePid) {
  WritePerfMap(7, "1000 100 first\n", 1000);
  Begin();
  EXPECT_EQ(namer_.Name({ModuleRegistry::kJit, 7, 0x1010}).name(), "first");
  proc_.End(7);
  proc_.SetStat(7, 2000);
  namer_.BeginSlice();
  EXPECT_EQ(namer_.Name({ModuleRegistry::kJit, 7, 0x1010}).name(), "[jit]+0x1010");
}

TEST(Basename, IsWhatFollowsTheLastSlash) {
  EXPECT_EQ(Basename("/usr/bin/app"), "app");
  EXPECT_EQ(Basename("app"), "app");
  EXPECT_EQ(Basename("/usr/bin/"), "");
  EXPECT_EQ(Basename(""), "");
}

}  // namespace
}  // namespace firetower::daemon
