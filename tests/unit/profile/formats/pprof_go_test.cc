// SPDX-License-Identifier: Apache-2.0
// Tests with the Go toolchain: its pprof reads our files, and we read the files of its runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "base/file.h"
#include "profile/diff.h"
#include "profile/export.h"
#include "profile/pprof.h"
#include "profile/top/top.h"
#include "tests/support/command.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::HaveCommand;
using ::firetower::testing::RunCommand;
using ::firetower::testing::ScratchFolder;
using ::firetower::testing::StackBuilder;
using ::testing::HasSubstr;

#define SKIP_WITHOUT_GO() \
  if (!HaveCommand("go")) GTEST_SKIP() << "no go on PATH: cannot compare with go tool pprof"

class PprofGo : public ::testing::Test {
 protected:
  std::string Pprof(const std::string& flags, const std::string& file) {
    // PPROF_TMPDIR: pprof wants a folder of its own even for text.
    auto result = RunCommand("cd " + folder_.path() + " && PPROF_TMPDIR=" + folder_.path() +
                             " go tool pprof " + flags + " " + file);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    return result.output;
  }
  std::string Write(const Profile& profile) {
    std::string path = folder_.path() + "/p.pb.gz";
    EXPECT_TRUE(WriteFileAtomic(path, EncodePprof(profile)));
    return path;
  }
  ScratchFolder folder_;
};

// It refuses the file that we were given: "location id: 1 has a line with nil function".
TEST_F(PprofGo, ReadsLinesWithoutAFunctionFromUs) {
  SKIP_WITHOUT_GO();
  constexpr char kFile[] =
      "\x0a\x04\x08\x01\x10\x02"          // cpu, nanoseconds
      "\x12\x06\x0a\x01\x01\x12\x01\x2a"  // a sample of location 1: 42
      "\x22\x06\x08\x01\x18\x7f\x22\x00"  // at 0x7f, of an empty line
      "\x32\x00\x32\x03"
      "cpu\x32\x0bnanoseconds";
  const auto profile = DecodePprof(std::string_view(kFile, sizeof(kFile) - 1));
  ASSERT_TRUE(profile) << profile.error().message();
  const std::string raw = Pprof("-raw", Write(*profile));
  EXPECT_TRUE(std::regex_search(raw, std::regex("42: 1"))) << raw;
  EXPECT_THAT(raw, HasSubstr("0x7f"));
}

TEST_F(PprofGo, ReadsWhatWeWrite) {
  SKIP_WITHOUT_GO();
  StackBuilder stacks;
  stacks.builder().meta().comments = {"node: n1"};
  stacks.Add({"main", "serve", "parse"}, 300, {{"thread", "worker"}});
  stacks.Add({"main", "serve"}, 100);
  stacks.Add({"main"}, 50);
  std::string path = Write(stacks.Build());

  std::string raw = Pprof("-raw", path);
  EXPECT_THAT(raw, HasSubstr("PeriodType: cpu nanoseconds"));
  EXPECT_THAT(raw, HasSubstr("Period: 10000000"));
  EXPECT_THAT(raw, HasSubstr("Duration: 1m0s"));
  EXPECT_THAT(raw, HasSubstr("samples/count cpu/nanoseconds[dflt]"));
  EXPECT_THAT(raw, HasSubstr("0x400000/0x500000/0x0 /usr/bin/app 0123456789abcdef [FN]"));
  EXPECT_TRUE(std::regex_search(raw, std::regex("300 3000000000: \\d+ \\d+ \\d+"))) << raw;
  EXPECT_THAT(raw, HasSubstr("thread:[worker]"));
  EXPECT_THAT(Pprof("-comments", path), HasSubstr("node: n1"));

  std::string top = Pprof("-top -unit=ms", path);
  EXPECT_THAT(top, HasSubstr("Total samples = 4500ms"));
  EXPECT_TRUE(std::regex_search(top, std::regex("3000ms 66\\.67%.*3000ms 66\\.67%  parse"))) << top;
  EXPECT_TRUE(std::regex_search(top, std::regex("500ms 11\\.11%.*4500ms   100%  main"))) << top;

  std::string traces = Pprof("-traces -unit=ms", path);
  EXPECT_TRUE(std::regex_search(traces, std::regex("3000ms   parse\\s+serve\\s+main"))) << traces;
}

TEST_F(PprofGo, AgreesWithOurTop) {
  SKIP_WITHOUT_GO();
  StackBuilder stacks;
  for (int i = 1; i <= 40; ++i) {
    std::string leaf = "leaf" + std::to_string(i);
    stacks.Add({"main", i % 2 == 0 ? "even" : "odd", leaf}, i);
  }
  Profile profile = stacks.Build();
  std::string text =
      Pprof("-top -nodecount=1000 -nodefraction=0 -unit=ms -sample_index=cpu", Write(profile));
  for (const TopRow& row : Top(profile, 1).rows) {
    auto ms = [](int64_t ns) {
      return ns == 0 ? std::string("0") : std::to_string(ns / 1'000'000) + "ms";
    };
    std::regex line("(^|\\n) *" + ms(row.self) + " +[0-9.]+% +[0-9.]+% +" + ms(row.total) +
                    " +[0-9.]+%  " + row.function + "\\n");
    EXPECT_TRUE(std::regex_search(text, line)) << row.function << "\n" << text;
  }
}

// Our difference shows the same as pprof's own difference of the two files.
TEST_F(PprofGo, ReadsADifferenceAsItsOwnDiffBase) {
  SKIP_WITHOUT_GO();
  StackBuilder before_stacks;
  StackBuilder after_stacks;
  for (int i = 1; i <= 30; ++i) {
    std::string leaf = "leaf" + std::to_string(i);
    if (i % 3 != 0) before_stacks.Add({"main", i % 2 == 0 ? "even" : "odd", leaf}, i);
    if (i % 5 != 0) after_stacks.Add({"main", i % 2 == 0 ? "even" : "odd", leaf}, 40 - i);
  }
  Profile before = before_stacks.Build();
  Profile after = after_stacks.Build();
  std::string before_path = folder_.path() + "/before.pb.gz";
  std::string after_path = folder_.path() + "/after.pb.gz";
  ASSERT_TRUE(WriteFileAtomic(before_path, EncodePprof(before)));
  ASSERT_TRUE(WriteFileAtomic(after_path, EncodePprof(after)));
  auto diff = Diff(before, after);
  ASSERT_TRUE(diff) << diff.error().message();
  const std::string path = Write(*diff);
  auto body = [](const std::string& text) { return text.substr(text.find("Showing nodes")); };
  const std::string flags = "-top -nodecount=1000 -nodefraction=0 -unit=ms -sample_index=cpu ";
  EXPECT_EQ(body(Pprof(flags, path)), body(Pprof(flags + "-diff_base " + before_path, after_path)));
}

TEST_F(PprofGo, ProfilesOfGoItselfAreRead) {
  SKIP_WITHOUT_GO();
  std::string cpu = folder_.path() + "/cpu.pb.gz";
  std::string heap = folder_.path() + "/heap.pb.gz";
  auto made = RunCommand("go run " FIRETOWER_SOURCE_DIR "/tests/testdata/go_profile/main.go " +
                         cpu + " " + heap);
  ASSERT_EQ(made.exit_code, 0) << made.output;
  auto cpu_bytes = ReadFile(cpu);
  ASSERT_TRUE(cpu_bytes);
  auto cpu_profile = DecodePprof(*cpu_bytes);
  ASSERT_TRUE(cpu_profile) << cpu_profile.error().message();
  EXPECT_EQ(cpu_profile->meta().period, 10'000'000);
  EXPECT_THAT(ToFolded(*cpu_profile, 1), HasSubstr("main.burn"));
  EXPECT_THAT(ToJson(*cpu_profile), HasSubstr("\"stage\":\"burning\""));

  auto heap_profile = DecodePprof(*ReadFile(heap));
  ASSERT_TRUE(heap_profile) << heap_profile.error().message();
  ASSERT_EQ(heap_profile->sample_types().size(), 4u);
  uint32_t alloc = heap_profile->FindValueIndex("alloc_space");
  ASSERT_LT(alloc, 4u);
  EXPECT_GE(heap_profile->Total(alloc), 64 << 20);

  // A file that we write again means the same to pprof.
  for (const auto& [path, profile] : {std::pair(cpu, &*cpu_profile), {heap, &*heap_profile}}) {
    std::string ours = Write(*profile);
    auto body = [&](const std::string& file) {
      std::string text = Pprof("-top -nodecount=500", file);
      return text.substr(text.find("Showing nodes"));
    };
    EXPECT_EQ(body(ours), body(path));
  }
}

}  // namespace
}  // namespace firetower::profile
