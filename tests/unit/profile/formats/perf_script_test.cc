// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/export.h"
#include "profile/import.h"
#include "profile/selector.h"

namespace firetower::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ErrorOf(std::string_view text) {
  auto profile = DecodePerfScript(text);
  return profile ? "no error" : profile.error().message();
}

// Lines as perf-script(1) and perf 6.12 print them.
constexpr std::string_view kTwoThreads =
    "# ========\n"
    "# captured on    : Sun Nov 22 10:00:00 2026\n"
    "# ========\n"
    "#\n"
    "V8 Worker 1 12688/12764 [002]  6544.038708352:   10101010 cpu-clock:u: \n"
    "\t        55d0a1b2 operator()(int) const+0x1f (/usr/bin/app)\n"
    "\t        55d0a1c0 main+0x10 (/usr/bin/app)\n"
    "\n"
    "swapper     0/0     [000]  6544.048708:   10101010 cpu-clock:u: \n"
    "\tffffffff8104f45a native_write_msr+0xa ([kernel.kallsyms])\n"
    "\t        7f00beef [unknown] (/lib/x.so (deleted))\n"
    "\n";

TEST(PerfScript, ReadsHeadersAndFrames) {
  auto profile = DecodePerfScript(kTwoThreads);
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_THAT(profile->sample_types(),
              ElementsAre(ValueType{"samples", "count"}, ValueType{"cpu", "nanoseconds"}));
  EXPECT_EQ(profile->meta().period_type, (ValueType{"cpu", "nanoseconds"}));
  EXPECT_EQ(profile->meta().period, 10'101'010);
  EXPECT_EQ(profile->meta().duration_nanos, 9'999'648);
  EXPECT_EQ(profile->Total(0), 2);
  EXPECT_EQ(profile->Total(1), 20'202'020);
  EXPECT_EQ(ToFolded(*profile, 0, {.mark_kernel = true}),
            "[x.so (deleted)]+0x7f00beef;native_write_msr_[k] 1\nmain;operator()(int) const 1\n");
  Location leaf = profile->location(profile->sample(0).locations[0]);
  EXPECT_EQ(leaf.address, 0x55d0a1b2u);
  EXPECT_EQ(profile->string(profile->mapping(leaf.mapping).filename), "/usr/bin/app");
}

int64_t TotalOf(const Profile& profile, const char* selector) {
  return FilterSamples(profile, *Selector::Parse(selector)).Total(0);
}

TEST(PerfScript, KeepsWhoAndWhenAsLabels) {
  auto profile = DecodePerfScript(kTwoThreads);
  ASSERT_TRUE(profile);
  EXPECT_EQ(TotalOf(*profile, "{comm=\"V8 Worker 1\",pid=\"12688\",tid=\"12764\",cpu=\"2\"}"), 1);
  EXPECT_EQ(TotalOf(*profile, "{end_timestamp_ns=\"6544038708352\"}"), 1);
  EXPECT_EQ(TotalOf(*profile, "{end_timestamp_ns=\"6544048708000\",comm=\"swapper\"}"), 1);
}

TEST(PerfScript, AddsUpEqualStacksWithoutTheirTimes) {
  const std::string twice = std::string(kTwoThreads) + std::string(kTwoThreads);
  auto timed = DecodePerfScript(twice);
  auto untimed = DecodePerfScript(twice, {.times = false});
  ASSERT_TRUE(timed && untimed);
  EXPECT_EQ(untimed->sample_count(), 2u);
  EXPECT_EQ(untimed->Total(0), 4);
  EXPECT_EQ(timed->Total(0), 4);
  EXPECT_EQ(TotalOf(*untimed, "{end_timestamp_ns!=\"\"}"), 0);
}

TEST(PerfScript, ReadsFormsOfTheHeader) {
  struct Row {
    const char* line;
    const char* selector;
    ValueType type;
    int64_t value;
  } rows[] = {
      {"java 25607 4794564.109216:          1 cycles:",
       "{comm=\"java\",tid=\"25607\"}",
       {"cycles", "count"},
       1},
      {"java 24636/25607 [000] 4794564.109216:  77 instructions:ppp: ",
       "{pid=\"24636\",tid=\"25607\"}",
       {"instructions", "count"},
       77},
      {"java 12688 [002] 6544038.708352: cpu-clock: ", "{cpu=\"2\"}", {"samples", "count"}, 1},
      {"thread 1 5 [001] 12.345678: 9 cycles: ",
       "{comm=\"thread 1\",tid=\"5\"}",
       {"cycles", "count"},
       9},
      {"a b 3 c 77 12.345678: 9 cycles: ", "{comm=\"a b 3 c\",tid=\"77\"}", {"cycles", "count"}, 9},
      {"perf 12 [001] d..2. 12.345678: sched:sched_switch: prev_comm=perf prev_pid=12",
       "{comm=\"perf\"}",
       {"sched:sched_switch", "count"},
       1},
      {"perf 12 [001] 12.345678: 3 cpu/event=0x3c,umask=0x1/u: ",
       "{tid=\"12\"}",
       {"cpu/event=0x3c,umask=0x1/", "count"},
       3},
      {"perf 12 cycles: ", "{tid=\"12\"}", {"samples", "count"}, 1},
      {":-1 -1/-1 [000] 12.345678: 4 cycles: ", "{pid=\"-1\",tid=\"-1\"}", {"cycles", "count"}, 4},
      {"perf 12 12.345678: ", "{tid=\"12\"}", {"samples", "count"}, 1},
  };
  for (const Row& row : rows) {
    auto profile = DecodePerfScript(row.line + std::string("\n\t 400123 main+0x1 (/a)\n\n"));
    ASSERT_TRUE(profile) << row.line << profile.error().message();
    EXPECT_EQ(profile->sample_types().back(), row.type) << row.line;
    EXPECT_EQ(profile->Total(profile->DefaultValueIndex()), row.value) << row.line;
    EXPECT_EQ(TotalOf(*profile, row.selector), 1) << row.line;
    EXPECT_EQ(ToFolded(*profile, 0), "main 1\n") << row.line;
  }
}

TEST(PerfScript, JoinsInlinedCallsWithTheFunctionThatHoldsThem) {
  auto profile = DecodePerfScript(
      "app 1 1.000000: 1 cycles: \n"
      "\t  400123 inner (inlined)\n"
      "  a.h:7\n"
      "\t  400123 middle (inlined)\n"
      "\t  400123 outer+0x3 (/app)\n"
      "  a.cc:12\n"
      "\t  400200 main+0x3 (/app)\n\n");
  ASSERT_TRUE(profile) << profile.error().message();
  Sample sample = profile->sample(0);
  ASSERT_EQ(sample.locations.size(), 2u);
  Location leaf = profile->location(sample.locations[0]);
  ASSERT_EQ(leaf.lines.size(), 3u);
  EXPECT_EQ(profile->FrameName(leaf, 0), "inner");
  EXPECT_EQ(profile->FrameName(leaf, 2), "outer");
  EXPECT_EQ(leaf.lines[0].line, 7);
  EXPECT_EQ(leaf.lines[2].line, 12);
  EXPECT_EQ(profile->string(profile->function(leaf.lines[2].function).filename), "a.cc");
  EXPECT_EQ(ToFolded(*profile, 0), "main;outer;middle;inner 1\n");
}

// Without a call graph perf pads names and puts the frame on the same line.
TEST(PerfScript, ReadsSamplesWithoutACallGraph) {
  auto profile = DecodePerfScript(
      "              dd 12345 [000] 100.000001:   5 cycles:  ffffffff8104f45a read+0xa "
      "([kernel.kallsyms])\n"
      "            perf 12346 [001] 100.000002:   7 cycles:      55d0a1b2 main+0x10 "
      "(/usr/bin/perf)\n");
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(ToFolded(*profile, 1), "main 7\nread 5\n");
  EXPECT_EQ(TotalOf(*profile, "{comm=\"dd\"}"), 1);
}

TEST(PerfScript, GivesEachOfSeveralEventsItsOwnTypes) {
  auto profile = DecodePerfScript(
      "a 1 1.000000: 100 cycles:u: \n\t 1 f (/a)\n\n"
      "a 1 1.100000: 5 cpu-clock:u: \n\t 1 f (/a)\n\n"
      "a 1 1.200000: 200 cycles:u: \n\t 1 f (/a)\n\n");
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_THAT(
      profile->sample_types(),
      ElementsAre(ValueType{"cycles_samples", "count"}, ValueType{"cycles", "count"},
                  ValueType{"cpu-clock_samples", "count"}, ValueType{"cpu-clock", "nanoseconds"}));
  EXPECT_EQ(profile->Total(0), 2);
  EXPECT_EQ(profile->Total(1), 300);
  EXPECT_EQ(profile->Total(2), 1);
  EXPECT_EQ(profile->Total(3), 5);
}

// -F -period: how many nanoseconds or cycles a sample stands for is not known.
TEST(PerfScript, CountsSamplesAloneWhereNoPeriodsArePrinted) {
  for (const char* event : {"cpu-clock", "cpu-clock:u", "task-clock", "cycles", "page-faults"}) {
    auto profile = DecodePerfScript("a 1 1.000000: " + std::string(event) + ": \n\t 1 f (/a)\n\n");
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_THAT(profile->sample_types(), ElementsAre(ValueType{"samples", "count"})) << event;
    EXPECT_EQ(profile->Total(0), 1);
    EXPECT_EQ(profile->meta().period_type, ValueType());
  }
  // A tracepoint's samples are one each, whether that is printed or not.
  auto profile = DecodePerfScript(
      "a 1 1.000000: cpu-clock: \n\t 1 f (/a)\n\n"
      "a 1 1.100000: sched:sched_switch: prev_pid=1\n\t 1 f (/a)\n\n"
      "a 1 1.200000: 7 cycles: \n\t 1 f (/a)\n\n");
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_THAT(profile->sample_types(),
              ElementsAre(ValueType{"cpu-clock_samples", "count"},
                          ValueType{"sched:sched_switch_samples", "count"},
                          ValueType{"sched:sched_switch", "count"},
                          ValueType{"cycles_samples", "count"}, ValueType{"cycles", "count"}));
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(profile->Total(i), 1) << i;
  EXPECT_EQ(profile->Total(4), 7);
  for (const char* other : {"cycles", "cycles:k"}) {
    EXPECT_THAT(ErrorOf("a 1 1.000000: 7 cycles: \n\t 1 f (/a)\n\na 1 1.100000: " +
                        std::string(other) + ": \n\t 1 f (/a)\n\n"),
                HasSubstr("samples of one event with and without a period; leave the field out"));
  }
}

TEST(PerfScript, PassesOverWhatIsNoSample) {
  auto profile = DecodePerfScript(
      "perf 1 1.000000: PERF_RECORD_COMM exec: perf:1/1\n"
      "perf 1/1 [000] 1.000000: PERF_RECORD_MMAP2 1/1: [0x400000(0x1000) @ 0]: r-xp /app\n"
      "app 1/1 [000] 1.100000: 3 cycles: \n\t 1 f (/a)\n\n");
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->Total(0), 1);
  EXPECT_EQ(profile->Total(1), 3);
}

TEST(PerfScript, SaysWhereItIsWrongAndWhatIsAllowed) {
  EXPECT_THAT(ErrorOf("\t 400123 main (/a)\n"),
              HasSubstr("perf script line 1: a frame before the first line of a sample"));
  EXPECT_THAT(ErrorOf("a 1 1.000000: 1 cycles: \n\t 1 f (/a)\n\nthis is prose\n"),
              HasSubstr("perf script line 4: neither the first line of a sample"));
  EXPECT_THAT(ErrorOf("a 1 1.000000: 1 cycles: \n\t 1 f (/a\n"),
              HasSubstr("perf script line 2: neither the first line of a sample"));
  std::string many;
  for (int i = 0; i < 40; ++i) {
    many += "a 1 1.000000: 1 event" + std::to_string(i) + "x: \n\t 1 f (/a)\n\n";
  }
  EXPECT_THAT(ErrorOf(many), HasSubstr("more than 32 events"));
}

TEST(PerfScript, HoldsItsLimits) {
  auto few = DecodePerfScript(kTwoThreads, {}, {.max_entries = 1});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code(), ErrorCode::kExhausted);
  auto small = DecodePerfScript(kTwoThreads, {}, {.max_bytes = 10});
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().code(), ErrorCode::kExhausted);
}

TEST(PerfScript, EveryPrefixIsReadOrRefused) {
  for (size_t length = 0; length <= kTwoThreads.size(); ++length) {
    auto profile = DecodePerfScript(kTwoThreads.substr(0, length));
    if (profile) {
      EXPECT_LE(profile->Total(0), 2) << length;
    }
  }
}

}  // namespace
}  // namespace firetower::profile
