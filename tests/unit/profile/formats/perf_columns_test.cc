// SPDX-License-Identifier: Apache-2.0
// Tests which column a number of `perf script` belongs to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profile/export.h"
#include "profile/format.h"
#include "profile/import.h"
#include "profile/selector.h"

namespace firetower::profile {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kStack = "\n\t          401136 main+0x16 (/srv/app)\n\n";

// Samples of these first lines, each with the stack of `main` alone.
std::string Samples(std::initializer_list<std::string_view> headers) {
  std::string text;
  for (std::string_view header : headers) text += std::string(header) + std::string(kStack);
  return text;
}

int64_t CountOf(const Profile& profile, const char* selector) {
  return FilterSamples(profile, *Selector::Parse(selector)).Total(0);
}

std::string ErrorOf(std::string_view text) {
  auto profile = DecodePerfScript(text);
  return profile ? "no error" : profile.error().message();
}

struct Row {
  std::string text;
  const char* selector;
  int64_t count;
  int64_t value;
};

void ExpectRead(const Row& row) {
  auto profile = DecodePerfScript(row.text);
  ASSERT_TRUE(profile) << row.text << profile.error().message();
  EXPECT_EQ(CountOf(*profile, row.selector), row.count) << row.text;
  EXPECT_EQ(profile->Total(1), row.value) << row.text;
  EXPECT_EQ(ToFolded(*profile, 0), "main " + std::to_string(profile->Total(0)) + "\n") << row.text;
}

// The columns as perf 6.1 pads them, and 6.12 where numbers of tasks have 7 places.
TEST(PerfColumns, AreReadWhereFieldsWereLeftOut) {
  const Row rows[] = {
      {Samples({"worker   22120    10.000001:    1000000 cpu-clock: ",
                "web worker 1     101    10.010001:    1000000 cpu-clock: "}),
       "{comm=\"web worker 1\",tid=\"101\",end_timestamp_ns=\"10010001000\"}", 1, 2'000'000},
      {Samples({"    101    10.000001:    1000000 cpu-clock: ",
                "    102    10.010001:    1000000 cpu-clock: "}),
       "{comm=\"\",tid=\"102\",end_timestamp_ns=\"10010001000\"}", 1, 2'000'000},
      {Samples({"22120    10.000001:    1000000 cpu-clock: ",
                "  121    10.000001:    1000000 cpu-clock: "}),
       "{comm=\"\",tid=\"121\"}", 1, 2'000'000},
      {Samples({"worker    10.000001:    1000000 cpu-clock: ",
                "web worker 1    10.000002:    1000000 cpu-clock: "}),
       "{comm=\"web worker 1\",tid=\"\",end_timestamp_ns=\"10000002000\"}", 1, 2'000'000},
      {Samples({"web worker 1    10.000002:    1000000 cpu-clock: "}),
       "{comm=\"web worker 1\",tid=\"\"}", 1, 1'000'000},
      {Samples({"worker U    10.000002:    1000000 cpu-clock: "}), "{comm=\"worker U\",tid=\"\"}",
       1, 1'000'000},
      {Samples({"worker U        10.000002:    1000000 cpu-clock: "}), "{comm=\"worker\",tid=\"\"}",
       1, 1'000'000},
      {Samples({"worker     101    1000000 cpu-clock: "}),
       "{comm=\"worker\",tid=\"101\",end_timestamp_ns=\"\"}", 1, 1'000'000},
      {"# captured on    : Sun Nov 22 10:00:00 2026\n# pmu mappings: software = 1\n#\n" +
           Samples({"#1 worker     101    10.000001:    1000000 cpu-clock: "}),
       "{comm=\"#1 worker\",tid=\"101\"}", 1, 1'000'000},
      {Samples({"U    2004008 cpu-clock: "}), "{comm=\"U\",tid=\"\"}", 1, 2'004'008},
      {Samples({"   2004008 cpu-clock: "}), "{comm=\"\",tid=\"\"}", 1, 2'004'008},
      {Samples({"a 1/2     101/102     [003]    10.000002:    1000000 cpu-clock: "}),
       "{comm=\"a 1/2\",pid=\"101\",tid=\"102\",cpu=\"3\"}", 1, 1'000'000},
  };
  for (const Row& row : rows) ExpectRead(row);
}

TEST(PerfColumns, AreReadWhereFieldsWereAdded) {
  const Row rows[] = {
      {Samples({"worker     101 U        10.000001:    1000000 cpu-clock: ",
                "worker     101 K        10.000002:    1000000 cpu-clock: "}),
       "{comm=\"worker\",tid=\"101\",end_timestamp_ns=\"10000001000\"}", 1, 2'000'000},
      {Samples({"worker     101 2026-11-22 10:00:00.000001    10.000001:    1000000 cpu-clock: "}),
       "{comm=\"worker\",tid=\"101\",end_timestamp_ns=\"10000001000\"}", 1, 1'000'000},
      {Samples({"worker     101    10.000001:    1000000 cpu-clock:     7f8c6b470f78"}),
       "{comm=\"worker\",tid=\"101\"}", 1, 1'000'000},
      {Samples({"worker     101    10.000001:    1000000 cpu-clock:   call                    "}),
       "{comm=\"worker\",tid=\"101\"}", 1, 1'000'000},
      {Samples({"worker     101    10.000001123:    1000000 cpu-clock: "}),
       "{end_timestamp_ns=\"10000001123\"}", 1, 1'000'000},
  };
  for (const Row& row : rows) ExpectRead(row);
}

TEST(PerfColumns, AreReadOfTextThatIsNotPadded) {
  ExpectRead({Samples({"worker   101 U       10.000001:    1000000 cpu-clock: "}),
              "{comm=\"worker\",tid=\"101\",end_timestamp_ns=\"10000001000\"}", 1, 1'000'000});
  ExpectRead({Samples({"101   10.000001:    1000000 cpu-clock: ",
                       "102   10.000001:    1000000 cpu-clock: "}),
              "{comm=\"\",tid=\"101\"}", 1, 2'000'000});
  ExpectRead({Samples({"worker   10.000001:    1000000 cpu-clock: ",
                       "web worker 1   10.000002:    1000000 cpu-clock: "}),
              "{comm=\"web worker 1\",tid=\"\"}", 1, 2'000'000});
}

TEST(PerfColumns, AreRefusedWhereAValueCouldBeOfTwo) {
  EXPECT_THAT(ErrorOf(Samples({"worker     101   0    10.000001:    1000000 cpu-clock: "})),
              HasSubstr("line 1: neither"));
  EXPECT_THAT(ErrorOf(Samples({"7    10.000001:    1000000 cpu-clock: "})),
              HasSubstr("all names are numbers"));
  EXPECT_THAT(ErrorOf(Samples({"worker     101    10.000001:    1000000 cpu-clock: ",
                               "worker    10.000001:    1000000 cpu-clock: "})),
              HasSubstr("the first columns are neither"));
  EXPECT_THAT(ErrorOf(Samples({"worker     101 ", "worker     102 "})),
              HasSubstr("columns are told apart by time, cpu and event"));
  EXPECT_THAT(ErrorOf(Samples({"worker     101    10.000001: fd: 0x00000001, buf: 0x7f00beef"})),
              HasSubstr("use -F +event"));
}

TEST(PerfColumns, OfANameThatLooksLikeThemAreRefused) {
  EXPECT_THAT(ErrorOf(Samples({"a 1000000 b:   14710 [001]    2004008 cpu-clock: "})),
              HasSubstr("the name of the thread holds what looks like columns"));
  ExpectRead({Samples({"a 1000000 b:   14710 [001]    10.000001:    2004008 cpu-clock: "}),
              "{comm=\"a 1000000 b:\",tid=\"14710\",cpu=\"1\"}", 1, 2'004'008});
}

// One of -F tid and one of -F pid look the same; by the name, or by what is computed, they are
// told.
TEST(PerfColumns, OfANumberWithNothingToTellItAreRefused) {
  for (std::string_view header : {"    101    10.000001: ", "    101    10.000001: cpu-clock: ",
                                  "    101 [003] ", "    101 cpu-clock: "}) {
    EXPECT_THAT(ErrorOf(Samples({header, header})), HasSubstr("use -F comm,pid,tid")) << header;
  }
}

// -F pid alone prints what -F tid does.
TEST(PerfColumns, OfProcessesAreNotTakenForThreads) {
  EXPECT_THAT(ErrorOf(Samples({"java     101    10.000001:    1000000 cycles: ",
                               "gc     101    10.000002:    1000000 cycles: ",
                               "java     101    10.000003:    1000000 cycles: ",
                               "gc     101    10.000004:    1000000 cycles: "})),
              HasSubstr("not of threads but of processes, of -F pid; use -F +tid"));
  EXPECT_THAT(ErrorOf(Samples({"a     101    10.000001:    1000000 cycles: ",
                               "b     101    10.000002:    1000000 cycles: ",
                               "c     101    10.000003:    1000000 cycles: ",
                               "d     101    10.000004:    1000000 cycles: "})),
              HasSubstr("use -F +tid"));
  // A thread of a pool that gave itself the name of a task, and its own again.
  EXPECT_EQ(ErrorOf(Samples({"pool     101    10.000001:    1000000 cycles: ",
                             "query     101    10.000002:    1000000 cycles: ",
                             "pool     101    10.000003:    1000000 cycles: "})),
            "no error");
  EXPECT_EQ(ErrorOf(Samples({":-1     101    10.000001:    1000000 cycles: "})), "no error");
  std::string busy;
  for (int i = 0; i < 20; ++i) {
    busy +=
        Samples({"java     101    10.0" + std::to_string(10 + i) + "001:   10000000 cpu-clock: "});
  }
  EXPECT_THAT(ErrorOf(busy), HasSubstr("use -F +tid"));
}

TEST(PerfColumns, OfDeltatimeAreNotTakenForTimes) {
  EXPECT_THAT(ErrorOf(Samples({"java     101     0.000000:    1000000 cycles: ",
                               "java     101     0.002000:    1000000 cycles: ",
                               "java     101     0.001000:    1000000 cycles: "})),
              HasSubstr("--deltatime"));
}

// Without a call graph the frame stands behind what other fields print.
TEST(PerfColumns, OfTheFrameAreTheOnesOfTheFrame) {
  const std::string head = "            load   22789   946.932675:          1 page-faults: ";
  struct {
    const char* rest;
    const char* frame;
  } rows[] = {
      {"    7f8c6bd7f8ea clone3+0x2a (/lib/libc.so.6)", nullptr},
      {"     7f8c6bd7f8ea clone3+0x2a (/lib/libc.so.6)", "clone3 1\n"},
      {"    7f8c6b470f78 [unknown] (//anon)     7f8c6bd7f8ea clone3+0x2a (/lib/libc.so.6)",
       "clone3 1\n"},
      {"               0     7f8c6bd7f8ea clone3+0x2a (/lib/libc.so.6)", "clone3 1\n"},
      {"      1e05080021 |OP N/A|LVL N/A|BLK  N/A     7f8c6bd7f8ea clone3+0x2a (/lib/libc.so.6)",
       "clone3 1\n"},
      {"     7f8c6bd7f8ea clone3+0x2a (/lib/libc.so.6)               0", nullptr},
      {"     7f8c6bd7f8ea clone3+0x2a (/lib/libc.so.6) insn: ff d2", nullptr},
      {"     7f8c6bd7f8ea clone3 N/A", nullptr},
      {"     7f8c6bd7f8ea clone3+0x2a               0", nullptr},
      {"     7f8c6bd7f8ea clone3+0x2a", "clone3 1\n"},
      {" ffffffff81000010 a (/a) ffffffff81000020 b (/b)", nullptr},
  };
  for (const auto& row : rows) {
    auto profile = DecodePerfScript(head + row.rest + "\n");
    if (row.frame != nullptr) {
      ASSERT_TRUE(profile) << row.rest << profile.error().message();
      EXPECT_EQ(ToFolded(*profile, 0), row.frame);
    } else if (profile) {
      EXPECT_EQ(ToFolded(*profile, 0), "[no stack] 1\n") << row.rest;
    }
  }
}

// Names of C++ hold what the fields of a tracepoint do.
TEST(PerfColumns, OfTheFrameMayHoldCommasAndEqualSigns) {
  for (std::string symbol : {"std::vector<int, std::allocator<int> >::push_back", "Foo::operator==",
                             "f(int, char)", "a::operator=(b const&, c) const"}) {
    auto profile = DecodePerfScript(
        "            load   22789 [000]   946.932675:    1000000 cpu-clock:            401136 " +
        symbol + "+0x16 (/srv/app)\n");
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_EQ(ToFolded(*profile, 0), symbol + " 1\n");
  }
}

// No thread's name is longer than 15 bytes, and all kinds of other lines are.
TEST(PerfColumns, OfAThreadThatIsNamedAsALineThatIsNoSample) {
  for (std::string name : {"PERF_RECORD_FOO", "PERF_RECORD_AUX", "a PERF_RECORD_"}) {
    const std::string columns = "     101 [000]    10.000001:    1000000 cpu-clock: ";
    const std::string frame = "           401136 main (/srv/app)\n";
    const std::string one_line = (name.size() < 15 ? "  " : " ") + name + columns + frame;
    for (const std::string& text :
         {Samples({name + columns}), one_line, one_line + one_line,
          Samples({name + "     101    1000000 cpu-clock: "}), Samples({name + " cpu-clock: "})}) {
      auto profile = DecodePerfScript(text);
      ASSERT_TRUE(profile) << text << profile.error().message();
      EXPECT_GE(profile->Total(0), 1) << text;
      EXPECT_EQ(CountOf(*profile, ("{comm=\"" + name + "\"}").c_str()), profile->Total(0)) << text;
      EXPECT_EQ(ToFolded(*profile, 0), "main " + std::to_string(profile->Total(0)) + "\n") << text;
    }
  }
}

// The blanks that pad an address are no column: -F comm,tid,cpu,ip,sym,dso.
TEST(PerfColumns, BehindACpuAloneDoNotTakeTheAddress) {
  const char* texts[] = {
      "             app   101 [001]            401136 main+0x16 (/srv/app)\n",
      "             app     101 [000]       12345678901 main (/srv/app)\n",
      "             app     101/101     [000]        1234567890 main (/srv/app)\n",
      "             app   101 [001]            401136 main+0x16 (/srv/app)\n"
      "             app   101 [001]  ffffffff81000000 main ([kernel.kallsyms])\n",
  };
  for (const char* text : texts) {
    auto profile = DecodePerfScript(text);
    ASSERT_TRUE(profile) << text << profile.error().message();
    EXPECT_EQ(ToFolded(*profile, 0), "main " + std::to_string(profile->Total(0)) + "\n") << text;
    EXPECT_EQ(profile->sample_types().size(), 1u) << text;
    EXPECT_EQ(CountOf(*profile, "{comm=\"app\",tid=\"101\"}"), profile->Total(0)) << text;
  }
}

// No sample loses its frame because that is narrower than perf prints it, or something is before.
TEST(PerfColumns, BehindWhichUnknownTextStandsAreRefused) {
  const char* texts[] = {
      "             app     101 [001]     main (/srv/app)\n",
      "             app     101 [001]    10.000001:    1000000 cpu-clock:  401136 main "
      "(/srv/app)\n",
      "             app     101 [001]    10.000001:    1000000 cpu-clock: main+0x16 (/srv/app)\n",
      "             app     101 [001]    10.000001:    1000000 main+0x16 (/srv/app)\n",
      "             app     101 [001]    10.000001:    1000000 cycles:u: main+0x16 (/srv/app)\n",
      "app 101 [001] 10.000001: 1000000 cpu-clock: 401136 main\n",
      "app 101 [001] 10.000001: 1000000 cpu-clock: main (/srv/app)\n",
      "             app     101 [001]    10.000001: prev_comm=load prev_pid=1\n",
  };
  for (const char* text : texts) {
    EXPECT_THAT(ErrorOf(text), ::testing::AllOf(HasSubstr("line 1: "), HasSubstr("-F "))) << text;
  }
}

// With few samples a name may look like columns that the file does not have.
TEST(PerfColumns, ThatNamesCouldBeAreRefusedOrRead) {
  for (std::string_view header :
       {"12345/12345    10.000001:    1000000 cpu-clock: ",
        "12345    10.000001:    1000000 cycles: ", "[003]    10.000001:    1000000 cpu-clock: ",
        "7/8 [001] U        10.000001: cpu-clock: ", "7/8 [001]    10.000001: cpu-clock: "}) {
    EXPECT_THAT(ErrorOf(Samples({header})), HasSubstr("use -F +")) << header;
    EXPECT_THAT(ErrorOf(Samples({header, header})), HasSubstr("use -F +")) << header;
  }
  std::string many;
  for (int i = 0; i < 8; ++i) many += Samples({"12345/12345    10.000001:    1000000 cpu-clock: "});
  ExpectRead({many, "{comm=\"\",pid=\"12345\",tid=\"12345\"}", 8, 8'000'000});
  ExpectRead({Samples({"12345/12345    10.000001:    1000000 cpu-clock: ",
                       "  101/101      10.000002:    1000000 cpu-clock: "}),
              "{comm=\"\",pid=\"101\",tid=\"101\"}", 1, 2'000'000});
  // A name that is padded to its width ends there.
  const std::string padded =
      "    10.000001:    1000000 cpu-clock:            401136 main (/srv/app)\n";
  ExpectRead({"             app [003]" + padded, "{comm=\"app\",cpu=\"3\"}", 1, 1'000'000});
  ExpectRead({"       7/8 [001]" + padded, "{comm=\"7/8 [001]\",cpu=\"\"}", 1, 1'000'000});
  // No thread of Linux has a number as large as a period that fills its column.
  std::string periods;
  for (int i = 0; i < 8; ++i) periods += Samples({"java [101] 99999999999 page-faults: "});
  ExpectRead({periods, "{comm=\"java\",tid=\"\",cpu=\"101\"}", 8, 8 * 99'999'999'999});
  for (std::string name : {"a: b:", "5 cycles:"}) {
    const std::string columns = "     101/101     [000]    10.000001:    1000000 ";
    ExpectRead(
        {Samples({name + columns}), ("{comm=\"" + name + "\",tid=\"101\"}").c_str(), 1, 1'000'000});
    ExpectRead({std::string(16 - name.size(), ' ') + name + columns +
                    "           401136 main (/srv/app)\n",
                ("{comm=\"" + name + "\",tid=\"101\"}").c_str(), 1, 1'000'000});
  }
}

// -F -tid of threads whose names end in as many digits as perf gives a thread's number.
TEST(PerfColumns, OfThreadsAreNotTakenFromTheEndsOfNames) {
  const std::string behind = "    10.000001:    1000000 cpu-clock: ";
  std::string many;
  std::string numbers;
  for (int i = 0; i < 20; ++i) {
    many += Samples({"web 12345" + std::to_string(10 + i) + behind});
    numbers += Samples({"12345" + std::to_string(10 + i) + behind});
  }
  for (const std::string& text :
       {Samples({"web 1234567" + behind}), Samples({"web 1234567    1000000 cpu-clock: "}),
        Samples({"a b 1234567 [003]" + behind}), many, numbers}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("use -F +")) << text;
  }
  ExpectRead({Samples({"job 0012345" + behind}), "{comm=\"job 0012345\",tid=\"\"}", 1, 1'000'000});
  ExpectRead({"     web 1234567    10.000001:    1000000 cpu-clock:            401136 main (/a)\n",
              "{comm=\"web 1234567\",tid=\"\"}", 1, 1'000'000});
}

// No name is longer than 15 bytes, and perf pads what is shorter than its column.
TEST(PerfColumns, OfThreadsAreReadWhereASampleCannotEndInAName) {
  const std::string behind = "    10.000001:    1000000 cpu-clock: ";
  const char* selector = "{comm=\"web\",tid=\"1234567\"}";
  const std::string web = "web 1234567" + behind;
  for (std::string_view other :
       {"web worker 1234567", "swapper       0", "web  123456", ":-1      -1"}) {
    ExpectRead({Samples({web, std::string(other) + behind}), selector, 1, 2'000'000});
  }
  ExpectRead({"             web 1234567" + behind + "           401136 main (/srv/app)\n", selector,
              1, 1'000'000});
  ExpectRead({Samples({"web 1234567/1234567" + behind}), selector, 1, 1'000'000});
  ExpectRead({Samples({"1234567" + behind, "  22745" + behind}), "{comm=\"\",tid=\"1234567\"}", 1,
              2'000'000});
}

// One sample is enough where the name would be too long with it.
TEST(PerfColumns, OfACpuAreReadBehindALongName) {
  const std::string behind = "    10.000001:    1000000 cpu-clock: ";
  ExpectRead({Samples({"web worker [003]" + behind}), "{comm=\"web worker\",tid=\"\",cpu=\"3\"}", 1,
              1'000'000});
  ExpectRead({Samples({"web [003]" + behind, "web worker [001]" + behind}),
              "{comm=\"web\",tid=\"\",cpu=\"3\"}", 1, 2'000'000});
  EXPECT_THAT(ErrorOf(Samples({"web work [003]" + behind})), HasSubstr("use -F +tid"));
}

// perf 6.1 with -F cpu,addr: six blanks of the address are no column of misc, and the rest no
// period.
TEST(PerfColumns, OfMiscHaveLettersInSomeSample) {
  std::string text;
  for (int i = 0; i < 9; ++i) text += "[00" + std::to_string(i) + "]                0\n";
  auto profile = DecodePerfScript(text);
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->sample_types().size(), 1u);
  EXPECT_EQ(CountOf(*profile, "{cpu=\"7\"}"), 1);
  // Not every sample has letters.
  ExpectRead({Samples({"worker     101 U        10.000001:    1000000 cpu-clock: ",
                       "worker     101          10.000002:    1000000 cpu-clock: "}),
              "{comm=\"worker\",tid=\"101\",end_timestamp_ns=\"10000002000\"}", 1, 2'000'000});
}

TEST(PerfColumns, BehindAStackAreNamed) {
  const std::string head =
      "worker     101    10.000001:    1000000 cpu-clock: \n\t          401136 f (/a)\n";
  EXPECT_THAT(ErrorOf(head + "ABI:2    AX:0x0 \n"), HasSubstr("iregs or uregs"));
  EXPECT_THAT(ErrorOf(head + " insn: ff d2\n"), HasSubstr("insn"));
  EXPECT_THAT(ErrorOf(head + "               0\n"), HasSubstr("phys_addr"));
  EXPECT_THAT(ErrorOf(head + " N/A\n"), HasSubstr("data_page_size"));
  // With phys_addr, whose number in front of it made it look like a frame.
  for (const char* page : {"N/A", "4K", "2M", "N/A N/A"}) {
    EXPECT_NE(ErrorOf(head + "               0 " + page + "\n"), "no error") << page;
  }
  EXPECT_THAT(ErrorOf(" insn: ff d2\n insn: 48\n"), HasSubstr("insn"));
}

TEST(PerfColumns, MayDifferFromEventToEvent) {
  auto profile = DecodePerfScript(
      "            load   22786   946.932074:          1 page-faults:      7f8c6bcb9f70 f (/a)\n"
      "            load   22786 [001]   946.932672: sched:sched_switch: prev_comm=load "
      "prev_pid=1\n");
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(CountOf(*profile, "{comm=\"load\",tid=\"22786\",cpu=\"1\"}"), 0);
  EXPECT_EQ(FilterSamples(*profile, *Selector::Parse("{cpu=\"1\"}")).Total(2), 1);
  EXPECT_THAT(ErrorOf("            load   22786   946.932074:          1 page-faults: \n"
                      "            load   22786   946.932075: page-faults: \n"),
              HasSubstr("with and without a period"));
}

TEST(PerfEventName, IsOneForAllWaysToRecordIt) {
  struct {
    const char* printed;
    const char* name;
  } rows[] = {{"cpu-clock/freq=999/", "cpu"},
              {"cpu-clock/freq=999/u", "cpu"},
              {"software/cpu-clock/", "cpu"},
              {"cpu_core/cycles/P", "cpu_core/cycles/"},
              {"cpu_core/cycles/", "cpu_core/cycles/"},
              {"cpu_core/cycles,freq=99/P", "cpu_core/cycles/"},
              {"cycles:ppp", "cycles"},
              {"cpu-clock:u", "cpu"},
              {"L1-dcache-load-misses:u", "L1-dcache-load-misses"},
              {"r1a8:u", "r1a8"},
              {"cpu/event=0x3c,umask=0x1/u", "cpu/event=0x3c,umask=0x1/"},
              {"cpu/event=0x3c,freq=99/u", "cpu/event=0x3c/"},
              {"cpu/period=1000,event=0x3c/", "cpu/event=0x3c/"},
              {"my:k", "my:k"},
              {"my:u", "my:u"},
              {"my:k:u", "my:k:u"},
              {"sched:p", "sched:p"},
              {"mem:0x1000:u", "mem:0x1000:u"},
              {"my:k/freq=99/", "my:k"},
              {"intel_pt//", "intel_pt//"},
              {"raw 0x1a8", "raw 0x1a8"},
              {"block/x:y", "block/x:y"}};
  for (const auto& row : rows) {
    auto profile = DecodePerfScript(
        Samples({"worker     101    10.000001:    1000000 " + std::string(row.printed) + ": "}));
    ASSERT_TRUE(profile) << row.printed << profile.error().message();
    EXPECT_EQ(profile->sample_types().back().type, row.name) << row.printed;
  }
}

TEST(PerfEventName, IsAnotherForEachTracepoint) {
  auto profile = DecodePerfScript(Samples({"worker     101    10.000001:          1 my:k: a=1",
                                           "worker     101    10.000001:          1 my:u: a=1"}));
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->sample_types().size(), 4u);
}

TEST(PerfSourceLines, AreReadAsPerfPrintsThem) {
  auto profile = DecodePerfScript(
      "load   22745   945.464824:    2004008 cpu-clock: \n"
      "\tffffffff8225f7a7 exc_page_fault+0xd7 ([kernel.kallsyms])\n"
      "  [kernel.kallsyms][ffffffff8225f7a7]\n"
      "\t    55e14b158203 inner+0x22\n"
      "  load.c:12 (inlined)\n"
      "\t    55e14b158203 middle+0x22 (/tmp/load)\n"
      "  load.c:13 (discriminator 3)\n"
      "\t    55e14b158300 [unknown] ([unknown])\n"
      "  ??:0\n"
      "\t    55e14b158303 [unknown] ([unknown])\n"
      "  :0\n\n");
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(ToFolded(*profile, 0), "0x55e14b158303;0x55e14b158300;middle;inner;exc_page_fault 1\n");
  Sample sample = profile->sample(0);
  ASSERT_EQ(sample.locations.size(), 4u);
  Location inlined = profile->location(sample.locations[1]);
  ASSERT_EQ(inlined.lines.size(), 2u);
  EXPECT_EQ(inlined.lines[0].line, 12);
  EXPECT_EQ(inlined.lines[1].line, 13);
}

TEST(PerfColumns, OfAnyNumberOfFieldsAreNotTakenForFoldedStacks) {
  for (const char* text :
       {"          worker     101 \n          worker     102 \n",
        "worker     101 \n\t          401136\n\n", "\t          401136\n",
        "          worker     101            401136\n",
        "worker     101 [000]    1000000 \n\t          401136\n\n", "\n ilen: 4\n",
        " insn: 48 8b\n", "            load  ilen: 4\n", "            load  insn: 48\n",
        "16109         20 \n", "[001]    2004008 \n",
        "2026-11-25 17:31:42.886956                0\n", "    55b4b6f6eeb8                0\n",
        "14598                0\n", "14597/14598                0\n",
        "ffffffff81000000                0\n", "    55b4b6f6eeb8       4780b2eb8\n"}) {
    EXPECT_EQ(DetectFormat(text, "x").value(), Format::kPerfScript) << text;
  }
  for (const char* text : {"main;f 12\nmain;g 4\n", "ffffffff81000000 3\n", "0x401136;f 3\n",
                           "    main 3\n", "N/A 3\n", "2026-11-25 17:31:42.886956;f 3\n"}) {
    EXPECT_EQ(DetectFormat(text, "x").value(), Format::kFolded) << text;
  }
}

TEST(PerfColumns, EveryPrefixIsReadOrRefused) {
  const std::string text =
      "            load   22786 U       946.932074:          1 page-faults:      7f8c6bcb9f70 f "
      "(/a)\n"
      "  load.c:12\n"
      "            load   22786 U       946.932075:          1 page-faults:      7f8c6bcb9f70 f "
      "(/a)\n";
  for (size_t length = 0; length <= text.size(); ++length) {
    auto profile = DecodePerfScript(text.substr(0, length));
    if (profile) {
      EXPECT_LE(profile->Total(0), 2) << length;
    }
  }
}

}  // namespace
}  // namespace firetower::profile
