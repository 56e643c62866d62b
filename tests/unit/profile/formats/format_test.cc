// SPDX-License-Identifier: Apache-2.0
#include "profile/format.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/codec/gzip.h"
#include "profile/diff.h"
#include "profile/export.h"
#include "profile/merge.h"
#include "profile/pprof.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kFolded = "main;a 3\nmain;b 4\n";
constexpr std::string_view kPerf = "app 1 1.000000: 1 cycles: \n\t 400123 main+0x1 (/app)\n\n";
constexpr std::string_view kSpeedscope =
    R"({"shared":{"frames":[{"name":"main"}]},"profiles":[{"type":"sampled","name":"p",)"
    R"("unit":"none","startValue":0,"endValue":7,"samples":[[0]],"weights":[7]}]})";

Profile Small() { return StackBuilder().Add({"main", "a"}, 3).Add({"main", "b"}, 4).Build(); }

// The first of them looks like a line of perf script, as Go 1.26 and gperftools 2.10 write it.
TEST(DetectFormat, RefusesTextProfilesOfPprof) {
  for (const char* text :
       {"heap profile: 9: 931344 [10: 1979920] @ heap/1048576\n1: 663552 [1: 663552] @ 0x4a1\n",
        "heap profile:   3:  1024 [  5: 4096] @ heapprofile\n",
        "--- contention:\ncycles/second=1\n", "--- mutex:\ncycles/second=1\n",
        "goroutine profile: total 5\n1 @ 0x4a1\n", "threadcreate profile: total 8\n8 @\n"}) {
    const Result<Format> format = DetectFormat(text, "heap.txt");
    ASSERT_FALSE(format) << text;
    EXPECT_EQ(format.error().code(), ErrorCode::kUnsupported);
    EXPECT_THAT(format.error().message(), HasSubstr("without debug=1"));
  }
}

TEST(DetectFormat, GoesByTheContent) {
  EXPECT_EQ(DetectFormat(EncodePprof(Small(), {.gzip = false}), "x.txt").value(), Format::kPprof);
  EXPECT_EQ(DetectFormat(kFolded, "x.json").value(), Format::kFolded);
  EXPECT_EQ(DetectFormat(kPerf, "").value(), Format::kPerfScript);
  EXPECT_EQ(DetectFormat("# captured on: today\n#\n\n" + std::string(kPerf), "x.folded").value(),
            Format::kPerfScript);
  EXPECT_EQ(DetectFormat(kSpeedscope, "x.pb").value(), Format::kSpeedscope);
  EXPECT_EQ(DetectFormat("\xEF\xBB\xBF \n" + std::string(kSpeedscope), "").value(),
            Format::kSpeedscope);
}

TEST(DetectFormat, TakesNumbersInColumnsForPerfScript) {
  // perf 6.1 script -F tid,weight and -F tid,phys_addr; the same numbers behind one blank are a
  // stack with its count.
  EXPECT_EQ(DetectFormat("14598                0\n", "x.perf").value(), Format::kPerfScript);
  EXPECT_EQ(DetectFormat("19204        3c7244540\n", "").value(), Format::kPerfScript);
  EXPECT_EQ(DetectFormat("14598 10\n", "").value(), Format::kFolded);
}

TEST(DetectFormat, GoesByTheNameWhereTheContentSaysNothing) {
  EXPECT_EQ(DetectFormat("# only a comment\n", "x.perf").value(), Format::kPerfScript);
  EXPECT_EQ(DetectFormat("# only a comment\n", "x.collapsed.gz").value(), Format::kFolded);
  auto prose = DetectFormat("this is prose\n", "x.md");
  ASSERT_FALSE(prose);
  EXPECT_THAT(prose.error().message(), HasSubstr("speedscope"));
  EXPECT_THAT(DetectFormat("", "x.folded").error().message(), HasSubstr("empty"));
}

TEST(FormatOfFile, KnowsTheExtensions) {
  EXPECT_EQ(FormatOfFile("a/b.pb.gz"), Format::kPprof);
  EXPECT_EQ(FormatOfFile("cpu.prof"), Format::kPprof);
  EXPECT_EQ(FormatOfFile("a.speedscope.json"), Format::kSpeedscope);
  EXPECT_EQ(FormatOfFile("a.json"), Format::kJson);
  EXPECT_EQ(FormatOfFile("a.folded"), Format::kFolded);
  EXPECT_EQ(FormatOfFile("a.svgz"), std::nullopt);
  for (const char* name : {"pprof", "folded", "speedscope", "perf-script", "gperftools", "json"}) {
    ASSERT_TRUE(FormatOfName(name)) << name;
    EXPECT_EQ(FormatName(*FormatOfName(name)), name);
  }
  EXPECT_EQ(FormatOfName("svgz"), std::nullopt);
}

TEST(DecodeProfile, ReadsEveryFormatGzipdOrNot) {
  const std::string pprof = EncodePprof(Small(), {.gzip = false});
  for (std::string_view bytes : {std::string_view(pprof), kFolded, kPerf, kSpeedscope}) {
    auto plain = DecodeProfile(bytes, "");
    ASSERT_TRUE(plain) << plain.error().message();
    EXPECT_GT(plain->Total(0), 0);
    auto packed = DecodeProfile(GzipCompress(bytes, 1), "");
    ASSERT_TRUE(packed) << packed.error().message();
    EXPECT_EQ(ToJson(*packed), ToJson(*plain));
  }
  auto marked = DecodeProfile("\xEF\xBB\xBF" + std::string(kFolded), "");
  ASSERT_TRUE(marked);
  EXPECT_EQ(ToFolded(*marked, 0), kFolded);
}

TEST(DecodeProfile, TakesTheFormatThatIsAskedFor) {
  auto asked = DecodeProfile(kFolded, "", {.format = Format::kSpeedscope});
  ASSERT_FALSE(asked);
  EXPECT_THAT(asked.error().message(), HasSubstr("speedscope"));
  EXPECT_EQ(DecodeProfile("{}", "", {.format = Format::kJson}).error().code(),
            ErrorCode::kUnsupported);
}

TEST(DecodeProfile, BoundsWhatIsInflated) {
  const std::string bomb = GzipCompress(std::string(1 << 20, 'a'), 9);
  auto profile = DecodeProfile(bomb, "", {.limits = {.max_bytes = 1 << 16}});
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().code(), ErrorCode::kExhausted);
}

TEST(DecodeProfile, RefusesTextsThatSayNothing) {
  for (const char* text : {"", "\n\n", " \t\r\n", "\xEF\xBB\xBF", "\xEF\xBB\xBF\n"}) {
    for (const char* name : {"x.folded", "x.perf", "x"}) {
      auto profile = DecodeProfile(text, name);
      ASSERT_FALSE(profile) << name;
      EXPECT_EQ(profile.error().code(), ErrorCode::kCorrupt);
      Merger merger;
      EXPECT_FALSE(AddToMerge(text, name, {}, &merger)) << name;
    }
    EXPECT_FALSE(DecodeProfile(text, "x", {.format = Format::kFolded}));
    EXPECT_FALSE(DecodeProfile(text, "x", {.format = Format::kPerfScript}));
    EXPECT_FALSE(DecodeProfile(GzipCompress(text, 1), "x.folded"));
  }
}

TEST(AddToMerge, AddsFilesOfDifferentFormats) {
  Merger merger;
  ASSERT_TRUE(AddToMerge(kFolded, "a.folded", {}, &merger));
  ASSERT_TRUE(AddToMerge(GzipCompress(kSpeedscope, 1), "b", {}, &merger));
  auto folded = DecodeFolded("main;a 10\n");
  ASSERT_TRUE(folded);
  ASSERT_TRUE(AddToMerge(EncodePprof(*folded), "c.pb.gz", {}, &merger));
  EXPECT_EQ(merger.count(), 3u);
  EXPECT_EQ(ToFolded(std::move(merger).Finish(), 0), "main 7\nmain;a 13\nmain;b 4\n");
}

TEST(EncodeProfile, WritesEveryFormatButThoseThatAreRead) {
  Profile profile = Small();
  EXPECT_EQ(EncodeProfile(profile, Format::kPprof).value(), EncodePprof(profile));
  EXPECT_EQ(EncodeProfile(profile, Format::kFolded, {.value_index = 0}).value(), kFolded);
  EXPECT_EQ(EncodeProfile(profile, Format::kFolded).value(), "main;a 30000000\nmain;b 40000000\n");
  EXPECT_EQ(EncodeProfile(profile, Format::kJson).value(), ToJson(profile));
  EXPECT_EQ(EncodeProfile(profile, Format::kSpeedscope).value(), *EncodeSpeedscope(profile));
  EXPECT_EQ(EncodeProfile(profile, Format::kPerfScript).error().code(), ErrorCode::kUnsupported);
  auto diff = Diff(profile, profile);
  ASSERT_TRUE(diff);
  EXPECT_EQ(EncodeProfile(*diff, Format::kFolded, {.value_index = 0}).value(),
            "main;a 3 3\nmain;b 4 4\n");
}

// Folded stacks have no labels: these two are one, of 2^63.
TEST(EncodeProfile, RefusesFoldedSumsThatPassInt64) {
  ProfileBuilder builder(Meta{.sample_types = {{"samples", "count"}}});
  const Line line{.function = builder.AddFunction("main", "main", "")};
  const uint32_t location = builder.AddLocation(kNoMapping, 0, {&line, 1});
  for (const char* thread : {"a", "b"}) {
    const int64_t half = int64_t{1} << 62;
    const Label label = builder.StringLabel("thread", thread);
    ASSERT_TRUE(builder.AddSample({&location, 1}, {&half, 1}, {&label, 1}));
  }
  const Profile profile = std::move(builder).Build();
  const Result<std::string> folded = EncodeProfile(profile, Format::kFolded, {});
  ASSERT_FALSE(folded);
  EXPECT_NE(folded.error().message().find("64 bits"), std::string::npos);
}

TEST(DecodeProfile, ReadsFoldedStacksWithAnyByteInNames) {
  std::string names;
  for (int c = 1; c < 0x80; ++c) {
    if (c != '\n' && c != ';') names += static_cast<char>(c);
  }
  names += std::string("\0\xc3\xa9 ", 4);
  const std::string text = "main;" + names + " 3\nmain;b 4\n";
  for (const std::optional<Format> format : {std::optional<Format>(), {Format::kFolded}}) {
    std::vector<std::string> notes;
    const Result<Profile> read = DecodeProfile(text, "x", {.format = format}, &notes);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->string(read->function(0).name), names);
    EXPECT_TRUE(notes.empty());
  }
  std::vector<std::string> notes;
  const Result<Profile> latin = DecodeProfile("main;caf\xe9 3\n", "x", {}, &notes);
  ASSERT_TRUE(latin);
  EXPECT_EQ(latin->string(latin->function(0).name), "caf\xEF\xBF\xBD");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("not all UTF-8"));
}

TEST(DecodeProfile, TellsThatANumberWithoutANameIsReadAsAThread) {
  const auto notes_of = [](std::string_view columns) {
    std::string text;
    for (int i = 0; i < 9; ++i)
      text += fmt::format("{} {:>12}:    1000000 cpu-clock: \n\t     5 f (/a)\n\n", columns,
                          fmt::format("10.{:06}", i));
    std::vector<std::string> notes;
    const Result<Profile> read = DecodeProfile(text, "x", {.format = Format::kPerfScript}, &notes);
    EXPECT_TRUE(read) << columns;
    return notes;
  };
  const std::vector<std::string> notes = notes_of("   4711");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("-F +comm,+pid,+tid"));
  EXPECT_TRUE(notes_of("web    4711").empty());
}

// However a message is cut: its texts do not make it one.
TEST(DetectFormat, KnowsFoldedStacksByTheirFirstLineHoweverLong) {
  std::string deep;
  while (deep.size() < 100'000) deep += "frame_of_a_recursion;";
  const std::string stacks = deep + "leaf 3\nmain;a 1\n";
  EXPECT_EQ(DetectFormat(stacks, "").value(), Format::kFolded);
  EXPECT_EQ(DetectFormat("\x01" + stacks, "").value(), Format::kFolded);
  EXPECT_EQ(DetectFormat(deep + "leaf 3", "").value(), Format::kFolded);
  EXPECT_FALSE(DetectFormat(deep + "leaf\nmain;a 1\n", ""));
}

TEST(DetectFormat, KnowsFoldedStacksBehindComments) {
  for (const char* text : {"# made by hand\nmain;a 1\n", "#main;a 1\n", "# of 3\n#main;a 1\n",
                           "# made by hand\nmain;\x01 1\n"}) {
    EXPECT_EQ(DetectFormat(text, "").value(), Format::kFolded) << text;
    EXPECT_TRUE(DecodeProfile(text, "")) << text;
  }
  EXPECT_FALSE(DetectFormat("# made by hand\n", ""));
}

TEST(DetectFormat, TakesCutPprofForPprof) {
  const std::string pprof = EncodePprof(Small(), {.gzip = false});
  for (size_t size = 8; size < pprof.size(); ++size) {
    EXPECT_EQ(DetectFormat(pprof.substr(0, size), "").value(), Format::kPprof) << size;
  }
}

TEST(DetectFormat, KnowsTextsByTheirLinesWhateverTheyHold) {
  EXPECT_EQ(DetectFormat("a\x01pp 1 1.000000: 1 cycles: \n\t 400123 main+0x1 (/app)\n", "").value(),
            Format::kPerfScript);
  EXPECT_EQ(DetectFormat("{\"name\":\"\x01\"}", "").value(), Format::kSpeedscope);
}

// Java's class files, GIF pictures and bytes of a generator begin with no field of profile.proto.
TEST(DecodeProfile, SaysOfDataThatIsNoTextThatItKnowsNoSuchFormat) {
  std::string random;
  for (uint32_t i = 0, state = 1; i < 4096; ++i) {
    state = state * 1664525 + 1013904223;
    random += static_cast<char>(state >> 24);
  }
  const std::string zeros(40, '\0');
  for (const std::string& data : {"\xca\xfe\xba\xbe" + zeros, "GIF89a" + zeros, random}) {
    for (const std::string& bytes : {data, GzipCompress(data, 1)}) {
      Merger merger;
      for (const Error& error :
           {DecodeProfile(bytes, "x").error(), AddToMerge(bytes, "x", {}, &merger).error()}) {
        EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
        EXPECT_EQ(error.sys_errno(), kSaidByMessage);
        EXPECT_THAT(error.message(), HasSubstr("no format that Firetower knows"));
        EXPECT_THAT(error.message(), HasSubstr("perf script"));
        EXPECT_THAT(error.message(), Not(HasSubstr("take that out")));
      }
    }
  }
  // It is a damaged pprof, however it is called, once its first fields are right.
  const std::string pprof = EncodePprof(Small(), {.gzip = false});
  const auto cut = DecodeProfile(pprof.substr(0, pprof.size() - 3), "x");
  EXPECT_THAT(cut.error().message(), HasSubstr("pprof"));
  EXPECT_THAT(cut.error().message(), Not(HasSubstr("no format")));
}

TEST(DecodeProfile, SaysWhichByteMadeATextBinary) {
  const Result<Profile> read = DecodeProfile("main;a\x01 3\nno count\n", "a.folded", {});
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("byte 6 is 0x01, which no text has"), std::string::npos)
      << read.error().message();
}

}  // namespace
}  // namespace firetower::profile
