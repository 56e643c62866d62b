// SPDX-License-Identifier: Apache-2.0
// Tests of texts of `perf script` that can be read in two ways, and of odd names in them.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "profile/export.h"
#include "profile/format.h"
#include "profile/import.h"
#include "profile/selector.h"

namespace firetower::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kBehind = "    10.000001:    1000000 cpu-clock: ";
constexpr std::string_view kWithOffset = "main+0x16 (/srv/app)";

std::string Sample(std::string_view header, std::string_view frame = kWithOffset) {
  return fmt::format("{}\n\t          401136 {}\n\n", header, frame);
}

std::string ErrorOf(std::string_view text) {
  const auto profile = DecodePerfScript(text);
  return profile ? "no error" : profile.error().message();
}

std::vector<std::string> NotesOn(std::string_view text) {
  std::vector<std::string> notes;
  const auto profile = DecodePerfScript(text, {}, {}, &notes);
  EXPECT_TRUE(profile) << text << profile.error().message();
  return notes;
}

std::string FoldedOf(std::string_view text) {
  const auto profile = DecodePerfScript(text);
  return profile ? ToFolded(*profile, 0) : profile.error().message();
}

int64_t CountOf(std::string_view text, const std::string& selector) {
  const auto profile = DecodePerfScript(text);
  EXPECT_TRUE(profile) << text << profile.error().message();
  return profile ? FilterSamples(*profile, *Selector::Parse(selector)).Total(0) : -1;
}

// perf script without -F prints tid; whoever chose the fields may have chosen pid instead.
TEST(PerfNotes, TellThatANumberMayBeAProcessWhereFieldsWereChosen) {
  const std::string web = "web     101";
  EXPECT_THAT(NotesOn(Sample(web + std::string(kBehind))), IsEmpty());
  EXPECT_THAT(NotesOn(Sample("web     101/101    " + std::string(kBehind), "main (/srv/app)")),
              IsEmpty());
  for (const std::string& chosen :
       {Sample(web + std::string(kBehind), "main (/srv/app)"),
        Sample(web + std::string(kBehind), "main+0x16"), Sample(web + "    10.000001: cpu-clock: "),
        Sample(web + "    1000000 cpu-clock: "), Sample(web + "    10.000001:    1000000 "),
        web + std::string(kBehind) + "\n"}) {
    EXPECT_THAT(NotesOn(chosen), ElementsAre(HasSubstr("would be its process if -F named pid")))
        << chosen;
  }
  // Tracepoints have neither periods nor frames unless that is asked for.
  EXPECT_THAT(
      NotesOn("             web     101 [000]    10.000001: sched:sched_switch: prev_comm=web\n"),
      IsEmpty());
}

// perf 6.1 prints numbers in 5 places, in which most of today's fill their column.
TEST(PerfNotes, TellThatNumbersMayEndNames) {
  const std::string behind(kBehind);
  const auto may_end = ElementsAre(HasSubstr("would be the ends of names if -F left tid out"));
  EXPECT_THAT(NotesOn(Sample("web 12345" + behind)), may_end);
  EXPECT_THAT(NotesOn(Sample("web 12345" + behind) + Sample("job 123456" + behind)), may_end);
  for (const std::string& other : {"web worker 12345" + behind, "swapper     0" + behind,
                                   "web  1234" + behind, "sh 12345" + behind}) {
    EXPECT_THAT(NotesOn(Sample("web 12345" + behind) + Sample(other)), IsEmpty()) << other;
  }
  EXPECT_THAT(NotesOn("             web 12345" + behind + "           401136 main+0x1 (/a)\n"),
              IsEmpty());
  // One name without digits says that they are no column.
  const std::string names = Sample("web 12345" + behind) + Sample("web" + behind);
  EXPECT_EQ(CountOf(names, "{comm=\"web 12345\",tid=\"\"}"), 1);
  EXPECT_THAT(NotesOn(names), IsEmpty());
}

// prctl(2) takes any bytes for a name; perf puts one blank behind it and pads the number to 7
// places.
TEST(PerfNames, MayBeginAndEndInBlanks) {
  const std::string behind = "   22120" + std::string(kBehind);
  for (const std::string name :
       {" web", "web ", "  web  ", " ", "   ", " a b ", " web worker 12 "}) {
    const std::string text = Sample("app" + behind) + Sample(name + " " + behind.substr(1));
    EXPECT_EQ(CountOf(text, "{comm=\"" + name + "\",tid=\"22120\"}"), 1) << text;
    const std::string pair = Sample(name + "   22120/22121  " + std::string(kBehind));
    EXPECT_EQ(CountOf(pair, "{comm=\"" + name + "\",pid=\"22120\",tid=\"22121\"}"), 1) << pair;
  }
  const std::string no_task =
      Sample("  x  " + std::string(kBehind)) + Sample("web" + std::string(kBehind));
  EXPECT_EQ(CountOf(no_task, "{comm=\"  x  \",tid=\"\"}"), 1);
  // perf pads the name of a sample on one line, so that blanks on its left cannot be told.
  const std::string one_line = std::string(kBehind) + "           401136 main (/a)\n";
  EXPECT_EQ(CountOf("            web      101" + one_line + "             app     101" + one_line,
                    "{comm=\"web \"}"),
            1);
  EXPECT_EQ(CountOf(Sample("\tweb " + behind.substr(1)), "{comm=\"\tweb\"}"), 1);
  EXPECT_THAT(ErrorOf(Sample("app" + behind) + Sample("a\nb" + behind)), HasSubstr("-F -comm"));
}

TEST(PerfNames, MayHaveAnyBytes) {
  const std::string behind = "   22120" + std::string(kBehind);
  for (const std::string name : {"caf\xe9", "\xff\xfe", "x\x9c", "\xe9", "a\x01", "\xc3 \xa9"}) {
    std::vector<std::string> notes;
    const std::string text = Sample(name + " " + behind.substr(1));
    const auto profile = DecodeProfile(text, "x", {}, &notes);
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_EQ(profile->Total(1), 1'000'000);
    EXPECT_EQ(ToFolded(*profile, 0), "main 1\n");
  }
}

// perf script -F -dso: a bracket at the end is the name's.
TEST(PerfFrames, WithoutModulesMayEndInBrackets) {
  const std::string header = "web     101" + std::string(kBehind);
  const char* names[] = {"foo (anonymous)", "JS:foo (anonymous)", "operator() (int)", "a (b",
                         "f(int)"};
  for (const std::string_view name : names) {
    const std::string offset = fmt::format("{}+0x16", name);
    EXPECT_EQ(FoldedOf(Sample(header, offset)), fmt::format("{} 1\n", name));
    EXPECT_EQ(
        FoldedOf(Sample(header, name) + Sample(header, "main")),
        name < "main" ? fmt::format("{} 1\nmain 1\n", name) : fmt::format("main 1\n{} 1\n", name));
    EXPECT_EQ(FoldedOf("             web     101" + std::string(kBehind) + "           401136 " +
                       offset + "\n"),
              fmt::format("{} 1\n", name));
  }
  // With modules a bracket that is not closed is cut off, also where it is the last line.
  EXPECT_THAT(FoldedOf(Sample(header) + Sample(header, "foo (anonymous")), HasSubstr("neither"));
  EXPECT_THAT(FoldedOf(header + "\n\t          401136 f (/a"), HasSubstr("neither"));
  EXPECT_EQ(FoldedOf(Sample(header) + Sample(header, "foo (anonymous) (/srv/app)")),
            "foo (anonymous) 1\nmain 1\n");
  EXPECT_EQ(FoldedOf(Sample(header, "inner+0x3 (inlined)\n\t          401136 main+0x16")),
            "main;inner 1\n");
}

// -F period, and -F trace,period.
TEST(PerfRefusals, DoNotBlameAFieldThatIsNotThere) {
  for (const char* text : {"   1000000 \n   1000000 \n", "         1 \n         1 \n"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("columns are told apart by time, cpu and event")) << text;
  }
  EXPECT_THAT(ErrorOf("   1000000 prev_comm=load prev_pid=1\n"), HasSubstr("-F "));
}

// The texts are those of perf's ui__warning() and of its addr2line.
TEST(PerfRefusals, BlameTheMessageOfPerfAndNotTheSample) {
  const std::string header = "web     101" + std::string(kBehind);
  const std::string warning =
      "Warning:\nProcessed 12 events and lost 3 chunks!\n\nCheck IO/CPU overload!\n\n";
  const std::string complaint = "cmd__addr2line /srv/app: could not read first record\n";
  for (const auto& [text, line] : std::vector<std::pair<std::string, std::string>>{
           {warning + Sample(header), "line 1: "},
           {Sample(header) + warning + Sample(header), "line 4: "},
           {header + "\n" + complaint + "\t          401136 main+0x16 (/srv/app)\n\n",
            "line 2: "}}) {
    const auto profile = DecodeProfile(text, "x");
    ASSERT_FALSE(profile);
    EXPECT_EQ(profile.error().sys_errno(), kSaidByMessage);
    EXPECT_THAT(profile.error().message(), HasSubstr("perf script " + line + "neither")) << text;
    EXPECT_THAT(profile.error().message(), HasSubstr("perf's own messages, which 2>&1 mixes in"))
        << text;
  }
}

TEST(PerfNames, EveryPrefixIsReadOrRefused) {
  const std::string text = Sample(" web    22120" + std::string(kBehind), "operator() (x)+0x16") +
                           Sample("web     22120" + std::string(kBehind), "main+0x16");
  for (size_t length = 0; length <= text.size(); ++length) {
    const auto profile = DecodePerfScript(text.substr(0, length));
    if (profile) {
      EXPECT_LE(profile->Total(0), 2) << length;
    }
  }
}

}  // namespace
}  // namespace firetower::profile
