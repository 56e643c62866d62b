// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/events/event_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "daemon/capture/events/pmu_event.h"
#include "daemon/capture/perf_event.h"
#include "tests/support/fake_proc.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::ScratchFolder;
using ::firetower::testing::WriteText;
using ::testing::HasSubstr;

// A machine with counters.
class EventNames : public ::testing::Test {
 protected:
  void Driver(const std::string& driver, int type) {
    WriteText(Path(driver, "type"), std::to_string(type) + "\n");
  }
  std::string Path(const std::string& driver, const std::string& file) const {
    return sys() + "/bus/event_source/devices/" + driver + "/" + file;
  }
  void Event(const std::string& driver, const std::string& name, const std::string& terms) {
    WriteText(Path(driver, "events/" + name), terms + "\n");
  }
  void Format(const std::string& driver, const std::string& term, const std::string& bits) {
    WriteText(Path(driver, "format/" + term), bits + "\n");
  }
  // The formats of Intel's driver.
  void Intel(const std::string& driver = "cpu", int type = 4) {
    Driver(driver, type);
    Format(driver, "event", "config:0-7");
    Format(driver, "umask", "config:8-15");
    Format(driver, "edge", "config:18");
    Format(driver, "inv", "config:23");
    Format(driver, "cmask", "config:24-31");
    Format(driver, "offcore_rsp", "config1:0-63");
  }
  EventSource Resolved(std::string_view name) const {
    const Result<EventSource> event = ResolveEvent(name, sys());
    EXPECT_TRUE(event) << name << ": " << event.error().message();
    return event ? *event : EventSource{};
  }
  std::string Refused(std::string_view name) const {
    const Result<EventSource> event = ResolveEvent(name, sys());
    return event ? "" : event.error().message();
  }
  const std::string& sys() const { return folder_.path(); }

  ScratchFolder folder_;
};

TEST_F(EventNames, KnowsTheKernelsCounts) {
  EXPECT_EQ(Resolved("page-faults").config, uint64_t{PERF_COUNT_SW_PAGE_FAULTS});
  EXPECT_EQ(Resolved("faults"), Resolved("page-faults"));
  EXPECT_EQ(Resolved("cs").config, uint64_t{PERF_COUNT_SW_CONTEXT_SWITCHES});
  EXPECT_TRUE(Resolved("cs").is_count());
  EXPECT_FALSE(Resolved("cpu-clock").is_count()) << "its unit is time";
}

TEST_F(EventNames, KnowsCountersWhereThereAreAny) {
  EXPECT_THAT(Refused("cycles"), HasSubstr("no driver for the CPU's counters"));
  EXPECT_THAT(Refused("r01c2"), HasSubstr("page-faults"));
  EXPECT_EQ(HasCounters(sys()).error().code(), ErrorCode::kUnsupported);
  Intel();
  EXPECT_TRUE(HasCounters(sys()));
  EXPECT_EQ(Resolved("cycles").type, uint32_t{PERF_TYPE_HARDWARE});
  EXPECT_EQ(Resolved("branch-misses").config, uint64_t{PERF_COUNT_HW_BRANCH_MISSES});
  EXPECT_EQ(Resolved("r01c2").type, uint32_t{PERF_TYPE_RAW});
  EXPECT_EQ(Resolved("r01c2").config, 0x1c2u);
  const EventSource misses = Resolved("LLC-load-misses");
  EXPECT_EQ(misses.type, uint32_t{PERF_TYPE_HW_CACHE});
  EXPECT_EQ(misses.config, uint64_t{PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_READ << 8 |
                                    PERF_COUNT_HW_CACHE_RESULT_MISS << 16});
  EXPECT_EQ(Resolved("dTLB-stores").config,
            uint64_t{PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_WRITE << 8});
}

TEST_F(EventNames, ReadsWhatTheDriverNames) {
  Intel();
  Event("cpu", "mem_inst_retired.all_loads", "event=0xd0,umask=0x81");
  Event("cpu", "starts", "event=0x3c,umask=0x01,edge,inv=1,cmask=2");
  Event("cpu", "offcore", "event=0xb7,offcore_rsp=0x3f80400001");
  EXPECT_EQ(Resolved("mem_inst_retired.all_loads").config, 0x81d0u);
  EXPECT_EQ(Resolved("mem_inst_retired.all_loads").type, 4u);
  EXPECT_EQ(Resolved("starts").config, 0x2840000u + 0x13cu);
  EXPECT_EQ(Resolved("offcore").config1, 0x3f80400001u);
  // AMD's event numbers lie in two places.
  Format("cpu", "event", "config:0-7,32-35");
  Event("cpu", "amd", "event=0x1c0,umask=0xff");
  EXPECT_EQ(Resolved("amd").config, 0x10000ffc0u);
}

TEST_F(EventNames, FindsTheKindOfCoreOfAHybridCpu) {
  Intel("cpu_core", 4);
  Intel("cpu_atom", 10);
  Event("cpu_atom", "topdown-bad-spec", "event=0x73,umask=0x0");
  EXPECT_EQ(Resolved("topdown-bad-spec").type, 10u);
}

TEST_F(EventNames, TellsUserFromKernel) {
  EXPECT_FALSE(Resolved("page-faults").exclude_kernel);
  EXPECT_TRUE(Resolved("page-faults:u").exclude_kernel);
  EXPECT_TRUE(Resolved("page-faults:k").exclude_user);
  EXPECT_FALSE(Resolved("page-faults:uk").exclude_user);
  EXPECT_FALSE(IsTracepointName("page-faults:u"));
}

TEST_F(EventNames, KnowsTracepoints) {
  EXPECT_TRUE(IsTracepointName("sched:sched_switch"));
  EXPECT_EQ(Resolved("sched:sched_switch").tracepoint, "sched_switch");
  EXPECT_EQ(Resolved("sched:sched_switch").syscall, -1);
  EXPECT_EQ(Resolved("syscalls:sys_enter_openat").tracepoint, "sys_enter");
  EXPECT_EQ(Resolved("syscalls:sys_enter_openat").syscall, 257);
  EXPECT_EQ(Resolved("syscalls:sys_exit_read").tracepoint, "sys_exit");
  EXPECT_EQ(Resolved("syscalls:sys_exit_read").syscall, 0);
}

TEST_F(EventNames, RefusesWithTheNearestName) {
  EXPECT_THAT(Refused("page-fault"), HasSubstr("did you mean 'page-faults'"));
  EXPECT_THAT(Refused("rxyz"), HasSubstr("unknown event"));
  EXPECT_THAT(Refused("r"), HasSubstr("unknown event"));
  EXPECT_THAT(Refused("syscalls:sys_enter_opnat"), HasSubstr("no system call 'opnat'"));
  EXPECT_THAT(Refused("syscalls:openat"), HasSubstr("sys_enter_"));
  EXPECT_THAT(Refused("sched:"), HasSubstr("group:event"));
  EXPECT_THAT(Refused(":sched_switch"), HasSubstr("group:event"));
  EXPECT_THAT(Refused("a:b:c"), HasSubstr("group:event"));
}

TEST_F(EventNames, SaysWhatIsWrongInSysfs) {
  Intel();
  Event("cpu", "odd", "event=0x3c,ldlat=3");
  Event("cpu", "large", "umask=0x100");
  Event("cpu", "garbage", "event=zzz");
  Format("cpu", "broken", "config:63-64");
  Event("cpu", "range", "broken=1");
  EXPECT_THAT(Refused("odd"), HasSubstr("no format of 'ldlat'"));
  EXPECT_THAT(Refused("large"), HasSubstr("more bits than 'config:8-15'"));
  EXPECT_THAT(Refused("garbage"), HasSubstr("'event=zzz' is no term"));
  EXPECT_THAT(Refused("range"), HasSubstr("'config:63-64' is no format"));
}

TEST(EventTerms, SurviveEveryTruncation) {
  constexpr std::string_view kTerms = "event=0x3c,umask=0x01,edge,cmask=2,config2=0xffff";
  constexpr std::string_view kFormat = "config:0-7,32-35";
  for (size_t terms = 0; terms <= kTerms.size(); ++terms) {
    for (size_t format = 0; format <= kFormat.size(); ++format) {
      EventSource source;
      const Status applied = ApplyTerms(
          kTerms.substr(0, terms),
          [&](const std::string&) { return std::string(kFormat.substr(0, format)); }, source);
      if (!applied) {
        EXPECT_EQ(applied.error().code(), ErrorCode::kCorrupt);
      }
      EXPECT_EQ(source.config & ~0xf000000ffu, 0u) << "bits beyond the format";
    }
  }
}

TEST(EventSources, OfTheKernelsCountsOpenHere) {
  for (const char* name :
       {"page-faults", "minor-faults", "major-faults", "context-switches", "cpu-migrations",
        "alignment-faults", "emulation-faults", "cpu-clock", "task-clock", "page-faults:u"}) {
    const Result<EventSource> source = ResolveEvent(name, "/sys");
    ASSERT_TRUE(source) << name;
    const Result<UniqueFd> event = OpenEvent(0, *source, {.hertz = 0, .period = 1000000});
    if (!event && event.error().code() == ErrorCode::kPermission)
      GTEST_SKIP() << event.error().message();
    EXPECT_TRUE(event) << name << ": " << event.error().message();
  }
}

}  // namespace
}  // namespace firetower::daemon
