// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/readings/kernel_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace firetower::daemon {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Texts of kernels 6.1 and 6.18.
constexpr std::string_view kCpuStat =
    "usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\nnr_periods 812\n"
    "nr_throttled 405\nthrottled_usec 20112233\nnr_bursts 0\nburst_usec 0\n";
constexpr std::string_view kPressure =
    "some avg10=9.41 avg60=25.00 avg300=28.70 total=21763915911\n"
    "full avg10=0.00 avg60=0.00 avg300=0.00 total=77\n";
constexpr std::string_view kStat =
    "cpu  3398067 2297144 730009 978477 21778 0 5597 13256 0 0\n"
    "cpu0 1703259 1140087 354949 508837 6947 3 1069 6600 0 0\n"
    "cpu1 1694808 1157057 375059 469639 14831 4 4528 6655 9 1\n"
    "intr 43801188 0 0 1 14\nctxt 82023496\nbtime 1763760000\nprocs_running 3\n";
constexpr std::string_view kSchedstat =
    "version 15\ntimestamp 4295086741\n"
    "cpu0 0 0 0 0 0 0 52839107853 4183254761 113502\n"
    "domain0 3 24 0 24 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    "cpu1 0 0 0 0 0 0 50184513291 3871645239 98498\n";
constexpr std::string_view kMeminfo =
    "MemTotal:       16289780 kB\nMemFree:          310140 kB\nMemAvailable:    8811296 kB\n";

TEST(KernelText, ReadsOneNumber) {
  EXPECT_EQ(ParseCount("98304\n"), 98304u);
  EXPECT_EQ(ParseCount("18446744073709551615\n"), UINT64_MAX);
  for (const char* wrong :
       {"", "\n", "-1\n", "12", "12 \n", "x\n", "18446744073709551616\n", "+1\n"})
    EXPECT_EQ(ParseCount(wrong), std::nullopt) << wrong;
}

TEST(KernelText, FindsAKeyOfItsOwn) {
  EXPECT_EQ(FindCount(kCpuStat, "usage_usec"), 1234567u);
  EXPECT_EQ(FindCount(kCpuStat, "nr_throttled"), 405u);
  EXPECT_EQ(FindCount(kCpuStat, "throttled_usec"), 20112233u);
  EXPECT_EQ(FindCount("oom 1\noom_kill 2\noom_group_kill 3\n", "oom_kill"), 2u);
  EXPECT_EQ(FindCount("oom_kill_disable 1\nunder_oom 0\noom_kill 4\n", "oom_kill"), 4u);
  EXPECT_EQ(FindCount(kCpuStat, "usage"), std::nullopt);
  EXPECT_EQ(FindCount("usage_usec\n", "usage_usec"), std::nullopt);
  EXPECT_EQ(FindCount("usage_usec 1 2\n", "usage_usec"), std::nullopt);
}

TEST(KernelText, ReadsLimits) {
  EXPECT_EQ(ParseCpuMax("150000 100000\n"), 1.5);
  EXPECT_EQ(ParseCpuMax("1000 100000\n"), 0.01);
  EXPECT_EQ(ParseCpuMax("max 100000\n"), 0);
  for (const char* wrong : {"", "max\n", "100000\n", "1 0\n", "max 100000", "-1 100000\n"})
    EXPECT_EQ(ParseCpuMax(wrong), std::nullopt) << wrong;
  EXPECT_EQ(ParseMemoryMax("20971520\n"), 20u << 20);
  EXPECT_EQ(ParseMemoryMax("max\n"), 0u);
  EXPECT_EQ(ParseMemoryMax("9223372036854771712\n"), 0u) << "v1, with pages of 4 KiB";
  EXPECT_EQ(ParseMemoryMax("9223372036854710272\n"), 0u) << "v1, with pages of 64 KiB";
  EXPECT_EQ(ParseMemoryMax("ma"), std::nullopt);
}

TEST(KernelText, ReadsTheTimeThatSomethingWaited) {
  EXPECT_EQ(ParsePressureTotalUs(kPressure), 21763915911u);
  EXPECT_EQ(ParsePressureTotalUs("full avg10=0.00 avg60=0.00 avg300=0.00 total=77\n"),
            std::nullopt);
  EXPECT_EQ(ParsePressureTotalUs("some avg10=0.00 avg60=0.00 avg300=0.00\n"), std::nullopt);
}

TEST(KernelText, ReadsTheLoad) {
  EXPECT_EQ(ParseLoadAverage("5.08 6.36 5.93 7/155 11645\n"), 5.08);
  EXPECT_EQ(ParseLoadAverage("128.00 6.36 5.93 7/155 11645\n"), 128);
  for (const char* wrong : {"", "5", "5.0", "5.08", "5.8 1.00", ".08 1", "-1.00 1"})
    EXPECT_EQ(ParseLoadAverage(wrong), std::nullopt) << wrong;
}

TEST(KernelText, ReadsTheMemory) {
  EXPECT_EQ(ParseMemoryTotalBytes(kMeminfo), 16289780ull * 1024);
  EXPECT_EQ(ParseMemoryTotalBytes("MemFree:          310140 kB\n"), std::nullopt);
  EXPECT_EQ(ParseMemoryTotalBytes("MemTotal:\n"), std::nullopt);
  EXPECT_EQ(ParseMemoryTotalBytes("MemTotal: 1 MB\n"), std::nullopt);
  EXPECT_EQ(ParseMemoryTotalBytes("MemTotal: 18446744073709551615 kB\n"), std::nullopt);
}

TEST(KernelText, ReadsTheTicksOfEachCpu) {
  std::vector<CpuTicks> cpus(7);
  ParseCpuTicks(kStat, cpus);
  ASSERT_THAT(cpus, SizeIs(2));
  EXPECT_EQ(cpus[0].user, 1703259u + 1140087u);
  EXPECT_EQ(cpus[0].system, 354949u + 3u + 1069u);
  EXPECT_EQ(cpus[1].user, 1694808u + 1157057u);
  EXPECT_EQ(cpus[1].system, 375059u + 4u + 4528u);
  ParseCpuTicks("cpu  1 2 3 4 5 6 7\ncpu0 1 2 3 4 5 6\n", cpus);
  EXPECT_THAT(cpus, IsEmpty()) << "older than 2.6.11: no softirq";
}

TEST(KernelText, AddsUpTheRunDelayOfAllCpus) {
  const std::optional<RunDelay> delay = ParseRunDelay(kSchedstat);
  ASSERT_TRUE(delay);
  EXPECT_EQ(delay->wait_ns, 4183254761ull + 3871645239ull);
  EXPECT_EQ(delay->runs, 113502u + 98498u);
  EXPECT_EQ(ParseRunDelay("version 14\ncpu0 0 0 0 0 0 0 1 2 3\n"), std::nullopt);
  EXPECT_EQ(ParseRunDelay("version 15\ntimestamp 1\n"), std::nullopt);
  EXPECT_EQ(ParseRunDelay("version 15\ncpu0 0 0 0 0 0 0 1 2\n"), std::nullopt);
  EXPECT_TRUE(ParseRunDelay("version 17\ntimestamp 1\ncpu0 0 0 0 0 0 0 1 2 3\n"));
}

// A read that was cut short gives the whole number or none: never the first digits of one.
template <typename Parse, typename Value>
void Sweep(std::string_view text, Parse parse, Value whole) {
  for (size_t size = 0; size <= text.size(); ++size) {
    const auto value = parse(text.substr(0, size));
    if (value) {
      EXPECT_EQ(*value, whole) << text.substr(0, size);
    }
  }
  EXPECT_TRUE(parse(text));
}

TEST(KernelText, EveryPrefixIsTheNumberOrNothing) {
  Sweep("1234567\n", ParseCount, 1234567u);
  Sweep(
      kCpuStat, [](std::string_view text) { return FindCount(text, "nr_throttled"); }, 405u);
  Sweep("150000 100000\n", ParseCpuMax, 1.5);
  Sweep("max 100000\n", ParseCpuMax, 0.0);
  Sweep("20971520\n", ParseMemoryMax, 20u << 20);
  Sweep("max\n", ParseMemoryMax, 0u);
  Sweep(kPressure, ParsePressureTotalUs, 21763915911u);
  Sweep("5.08 6.36 5.93 7/155 11645\n", ParseLoadAverage, 5.08);
  Sweep(kMeminfo, ParseMemoryTotalBytes, 16289780ull * 1024);
}

TEST(KernelText, APrefixHasWholeCpusAlone) {
  std::vector<CpuTicks> whole;
  ParseCpuTicks(kStat, whole);
  std::vector<CpuTicks> cpus;
  for (size_t size = 0; size < kStat.size(); ++size) {
    ParseCpuTicks(kStat.substr(0, size), cpus);
    ASSERT_LE(cpus.size(), 2u);
    for (size_t i = 0; i < cpus.size(); ++i) EXPECT_EQ(cpus[i].system, whole[i].system) << size;
  }
  for (size_t size = 0; size < kSchedstat.size(); ++size) {
    const std::optional<RunDelay> delay = ParseRunDelay(kSchedstat.substr(0, size));
    if (delay) {
      EXPECT_EQ(delay->runs, 113502u) << "of the first CPU, at " << size;
    }
  }
}

}  // namespace
}  // namespace firetower::daemon
