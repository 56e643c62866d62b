// SPDX-License-Identifier: Apache-2.0
// A reader that names frames later gets the same names as the daemon.
#include "query/name_frames.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/file.h"
#include "daemon/export/window.h"
#include "profile/export.h"
#include "profile/merge.h"
#include "profile/pprof.h"
#include "symbolizer/elf/build_id.h"
#include "tests/support/command.h"
#include "tests/support/fake_proc.h"
#include "tests/unit/daemon/export/slices.h"

namespace firetower::query {
namespace {

using daemon::SymbolOptions;
using ::firetower::testing::FakeProc;
using ::firetower::testing::RunCommand;
using ::firetower::testing::ScratchFolder;

constexpr char kProgram[] = FIRETOWER_BINARY_DIR "/tests/symbols_program";
constexpr int kLongMs = 60'000;

// The same samples of a real program, passed through a daemon's stages with any settings for names.
class NameFramesTest : public ::testing::Test {
 protected:
  NameFramesTest() {
    build_id_ = symbolizer::ReadBuildId(symbolizer::FileSource::Open(kProgram).value()).value();
    path_ = folder_.path() + "/app";
    RunCommand(fmt::format("cp {} {}", kProgram, path_));
    testing::WriteText(proc_.Of(7) + "/map_files/10000-20000", ReadFile(kProgram).value());
    const uint64_t size = ReadFile(kProgram).value().size();
    std::mt19937_64 random(20240229);
    for (int i = 0; i < 300; ++i) {
      std::vector<daemon::Frame> stack;
      for (int depth = 0; depth < 8; ++depth) {
        stack.push_back({kApp, 0, random() % size});
      }
      stacks_.push_back(std::move(stack));
    }
  }

  profile::Profile Through(const SymbolOptions& options) {
    auto app = std::make_shared<daemon::Module>();
    app->kind = daemon::ModuleKind::kFile;
    app->path = path_;
    app->build_id = build_id_;
    app->cache_key = "b:" + build_id_;
    symbolizer::SymbolCache cache;
    daemon::SymbolLoader loader(proc_.root(), cache, options);
    daemon::Process process;
    process.pid = 7;
    loader.Want(app, process, {0x10000, 0x20000, 0, kApp});
    loader.Start();
    loader.WaitIdle(kLongMs);
    daemon::FrameNamer namer(loader, cache, proc_.root());
    daemon::WindowOptions window_options{"node", daemon::kWindowNs, {true, true, true}};
    daemon::ContainerNames names(nullptr, Clock::System());
    daemon::Window window(window_options, namer, names);
    std::vector<daemon::RowOf> rows;
    for (const auto& stack : stacks_) rows.push_back({.container = container_, .frames = stack});
    auto slice = daemon::SliceOf(daemon::kFirstWindowNs, daemon::kFirstWindowNs + 1, rows);
    daemon::ModuleRegistry registry;
    for (uint32_t id = 0; id < kApp; ++id) slice->modules.push_back({id, registry.Get(id)});
    slice->modules.push_back({kApp, app});
    namer.LearnModules(*slice);
    namer.BeginSlice();
    window.Add(*slice);
    std::vector<daemon::Window::Finished> finished = window.Take();
    loader.Stop();
    // Encoded and decoded, as it is stored and served.
    return profile::DecodePprof(profile::EncodePprof(*finished.at(0).open.profile)).value();
  }
  profile::Profile NamedHere(const profile::Profile& from, bool lines) {
    symbolizer::HostFiles files;
    symbolizer::dwarf::UnitCache cache(64 << 20);
    symbolizer::ObjectOptions options;
    if (lines) options.lines = &cache;
    symbolizer::ObjectFinder finder(files, nullptr, options);
    NamedProfile named = NameFrames(from, finder, lines);
    missing_ = named.mappings_missing;
    return std::move(named.profile);
  }

  static constexpr uint32_t kApp = 4;  // the first behind the registry's own
  FakeProc proc_;
  ScratchFolder folder_;
  std::string build_id_;
  std::string path_;
  std::vector<std::vector<daemon::Frame>> stacks_;
  std::shared_ptr<const daemon::Container> container_ = daemon::ContainerCalled("web");
  symbolizer::dwarf::UnitCache lines_{64 << 20};
  uint32_t missing_ = 0;
};

TEST_F(NameFramesTest, ARemoteDaemonTellsBuildIdAndOffsetOnly) {
  const profile::Profile remote = Through({.remote = true});
  ASSERT_EQ(remote.mapping_count(), 1u);
  EXPECT_FALSE(remote.mapping(0).has_functions());
  EXPECT_EQ(remote.string(remote.mapping(0).build_id), build_id_);
  EXPECT_EQ(remote.function_count(), 0u);
  std::set<uint64_t> offsets;
  for (const auto& stack : stacks_) {
    for (const daemon::Frame& frame : stack) offsets.insert(frame.offset);
  }
  std::set<uint64_t> addresses;
  for (uint32_t i = 0; i < remote.location_count(); ++i) {
    EXPECT_TRUE(remote.location(i).lines.empty());
    addresses.insert(remote.location(i).address);
  }
  EXPECT_EQ(addresses, offsets);
}

TEST_F(NameFramesTest, NamesAreTheDaemons) {
  const profile::Profile there = Through({});
  const profile::Profile here = NamedHere(Through({.remote = true}), false);
  EXPECT_EQ(missing_, 0u);
  EXPECT_EQ(profile::ToFolded(here, 1), profile::ToFolded(there, 1));
  EXPECT_EQ(profile::ToJson(here), profile::ToJson(there));
  EXPECT_NE(profile::ToFolded(there, 1).find("shop::Cart::Add"), std::string::npos);
}

TEST_F(NameFramesTest, LinesAndInlinedCallsAreTheDaemons) {
  SymbolOptions full;
  full.object.lines = &lines_;
  const profile::Profile there = Through(full);
  const profile::Profile here = NamedHere(Through({.remote = true}), true);
  EXPECT_EQ(profile::ToFolded(here, 1), profile::ToFolded(there, 1));
  EXPECT_EQ(profile::ToJson(here), profile::ToJson(there));
  EXPECT_NE(profile::ToJson(there).find("symbols_program.cc"), std::string::npos);
  // A profile with the daemon's names, to which lines are added.
  const profile::Profile later = NamedHere(Through({}), true);
  EXPECT_EQ(profile::ToFolded(later, 1), profile::ToFolded(there, 1));
}

TEST_F(NameFramesTest, WhatIsNotFoundStaysAsItIs) {
  const profile::Profile remote = Through({.remote = true});
  ASSERT_EQ(RunCommand("rm " + path_).exit_code, 0);
  const profile::Profile here = NamedHere(remote, false);
  EXPECT_EQ(missing_, 1u);
  EXPECT_EQ(profile::ToJson(here), profile::ToJson(remote));
  // Another file in its place has another build id.
  RunCommand("cp /bin/ls " + path_);
  EXPECT_EQ(profile::ToJson(NamedHere(remote, false)), profile::ToJson(remote));
}

// The linker leaves the symbol table out of the build id: a file is named by itself, where it is.
TEST_F(NameFramesTest, NamesEachOfTwoFilesWithOneBuildIdByItself) {
  const std::string other = folder_.path() + "/other";
  RunCommand(fmt::format("objcopy --redefine-sym main=niam {} {}", kProgram, other));
  symbolizer::HostFiles files;
  symbolizer::ObjectFinder finder(files, nullptr, {});
  const symbolizer::SymbolTable* one = finder.Find(build_id_, path_, true);
  const symbolizer::SymbolTable* two = finder.Find(build_id_, other, true);
  ASSERT_NE(one, nullptr);
  ASSERT_NE(two, nullptr);
  EXPECT_EQ(finder.Find(build_id_, path_, true), one) << "kept";
  const std::string told = RunCommand(fmt::format("nm {} | grep ' T niam'", other)).output;
  const uint64_t main_vaddr = std::stoull(told, nullptr, 16);
  EXPECT_EQ(one->FindVaddr(main_vaddr)->name, "main");
  EXPECT_EQ(two->FindVaddr(main_vaddr)->name, "niam");
}

TEST_F(NameFramesTest, AddsUpToTheSame) {
  const profile::Profile remote = Through({.remote = true});
  const profile::Profile here = NamedHere(remote, true);
  EXPECT_EQ(here.Total(1), remote.Total(1));
  EXPECT_EQ(here.sample_count(), remote.sample_count());
  EXPECT_EQ(here.meta(), remote.meta());
}

}  // namespace
}  // namespace firetower::query
