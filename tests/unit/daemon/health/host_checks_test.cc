// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/host_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "daemon/health/doctor.h"

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;

constexpr Privileges kNone{};
constexpr Privileges kAll{~uint64_t{0}, false};

Privileges With(int capability) { return {uint64_t{1} << capability, false}; }

// A /proc and a /sys, written file by file, gone with the test.
class FakeHost {
 public:
  FakeHost() : root_(::testing::TempDir() + "/host-" + std::to_string(::getpid())) {
    std::filesystem::remove_all(root_);
  }
  ~FakeHost() { std::filesystem::remove_all(root_); }
  FakeHost& Write(const std::string& path, const std::string& text) {
    std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return *this;
  }
  void Link(const std::string& path, const std::string& target) {
    const std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(target, file);
  }
  std::string proc() const { return root_ + "/proc"; }
  std::string sys() const { return root_ + "/sys"; }

 private:
  std::string root_;
};

TEST(BtfCheck, WantsBtf) {
  FakeHost host;
  EXPECT_EQ(BtfCheck(host.sys()).status, CheckStatus::kFail);
  EXPECT_THAT(BtfCheck(host.sys()).fix, HasSubstr("CONFIG_DEBUG_INFO_BTF=y"));
  host.Write("sys/kernel/btf/vmlinux", "\x9f");
  EXPECT_EQ(BtfCheck(host.sys()).status, CheckStatus::kFail) << "cut short";
  host.Write("sys/kernel/btf/vmlinux", "\x7f\x45");
  EXPECT_EQ(BtfCheck(host.sys()).status, CheckStatus::kFail);
  host.Write("sys/kernel/btf/vmlinux", "\x9f\xeb\x01");
  EXPECT_EQ(BtfCheck(host.sys()).status, CheckStatus::kOk);
}

TEST(LockdownCheck, FailsInConfidentiality) {
  FakeHost host;
  EXPECT_EQ(LockdownCheck(host.sys()).status, CheckStatus::kOk);
  host.Write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  EXPECT_EQ(LockdownCheck(host.sys()).status, CheckStatus::kOk);
  host.Write("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
  EXPECT_EQ(LockdownCheck(host.sys()).status, CheckStatus::kFail);
}

TEST(KallsymsCheck, NamesWhatHidesTheAddresses) {
  FakeHost host;
  EXPECT_EQ(KallsymsCheck(host.proc(), kAll).status, CheckStatus::kWarn) << "no kallsyms";
  host.Write("proc/kallsyms", "0000000000000000 A fixed_percpu_data\nffffffff81000000 T _stext\n");
  EXPECT_EQ(KallsymsCheck(host.proc(), kNone).status, CheckStatus::kOk);
  host.Write("proc/kallsyms", "0000000000000000 A fixed_percpu_data\n0000000000000000 T _stext\n");
  EXPECT_EQ(KallsymsCheck(host.proc(), kNone).fix, "grant CAP_SYSLOG");
  host.Write("proc/sys/kernel/kptr_restrict", "2\n");
  EXPECT_EQ(KallsymsCheck(host.proc(), kAll).fix, "sysctl kernel.kptr_restrict=1");
}

// The kernel shows it so: a child of a process that unshared is in a namespace of its own.
TEST(PidNamespaceCheck, KnowsOneOfTheKernels) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) ::_exit(77);
    const pid_t inner = ::fork();
    if (inner == 0) ::_exit(PidNamespaceCheck("/proc").status == CheckStatus::kWarn ? 0 : 1);
    int status = 0;
    ::_exit(::waitpid(inner, &status, 0) == inner && WIFEXITED(status) ? WEXITSTATUS(status) : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "namespaces may not be made here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(PidNamespaceCheck, NamesAPodWithoutHostPid) {
  FakeHost host;
  EXPECT_EQ(PidNamespaceCheck(host.proc()).status, CheckStatus::kOk) << "nothing is known";
  host.Link("proc/self/ns/pid", "pid:[4026532781]");
  EXPECT_EQ(PidNamespaceCheck(host.proc()).status, CheckStatus::kWarn);
  EXPECT_THAT(PidNamespaceCheck(host.proc()).fix, HasSubstr("hostPID: true"));
}

TEST(PidNamespaceCheck, TheNodesOwnIsTheFirst) {
  FakeHost host;
  host.Link("proc/self/ns/pid", "pid:[4026531836]");
  EXPECT_EQ(PidNamespaceCheck(host.proc()).status, CheckStatus::kOk);
}

TEST(PerfParanoidCheck, MattersWithoutPerfmonOnly) {
  FakeHost host;
  EXPECT_EQ(PerfParanoidCheck(host.proc(), kAll).status, CheckStatus::kFail) << "no perf events";
  host.Write("proc/sys/kernel/perf_event_paranoid", "3\n");  // Debian's default
  EXPECT_EQ(PerfParanoidCheck(host.proc(), With(CAP_PERFMON)).status, CheckStatus::kOk);
  EXPECT_EQ(PerfParanoidCheck(host.proc(), kNone).fix, "grant CAP_PERFMON");
  host.Write("proc/sys/kernel/perf_event_paranoid", "-1\n");
  EXPECT_EQ(PerfParanoidCheck(host.proc(), kNone).status, CheckStatus::kOk);
}

TEST(PerfMlockCheck, CountsTheControlPage) {
  FakeHost host;
  constexpr int64_t kRing = 512 << 10;
  EXPECT_EQ(PerfMlockCheck(host.proc(), kNone, kRing).status, CheckStatus::kOk);
  host.Write("proc/sys/kernel/perf_event_mlock_kb", "516\n");  // the kernel's default
  EXPECT_EQ(PerfMlockCheck(host.proc(), kNone, kRing).status, CheckStatus::kOk);
  host.Write("proc/sys/kernel/perf_event_mlock_kb", "512\n");
  Check check = PerfMlockCheck(host.proc(), kNone, kRing);
  EXPECT_EQ(check.status, CheckStatus::kWarn);
  EXPECT_THAT(check.fix, HasSubstr("kernel.perf_event_mlock_kb=516"));
  EXPECT_EQ(PerfMlockCheck(host.proc(), With(CAP_IPC_LOCK), kRing).status, CheckStatus::kOk);
}

TEST(MemlockCheck, MattersBelow511Only) {
  EXPECT_EQ(MemlockCheck(KernelVersion{5, 11, 0}, kNone, 65536).status, CheckStatus::kOk);
  EXPECT_EQ(MemlockCheck(KernelVersion{5, 10, 200}, kNone, 65536).status, CheckStatus::kFail);
  EXPECT_EQ(MemlockCheck(KernelVersion{5, 10, 200}, With(CAP_SYS_RESOURCE), 65536).status,
            CheckStatus::kOk);
  EXPECT_EQ(MemlockCheck(KernelVersion{5, 10, 200}, kNone, 64 << 20).status, CheckStatus::kOk);
}

TEST(CgroupCheck, ShowsModeAndChoice) {
  Check check = CgroupCheck({"hybrid", "v1:memory", ""});
  EXPECT_EQ(check.status, CheckStatus::kOk);
  EXPECT_EQ(check.message, "mode hybrid, samples carry ids of v1:memory");
  EXPECT_EQ(CgroupCheck({"", "", "v1:cpu is not mounted"}).status, CheckStatus::kFail);
}

TEST(ClockCheck, WantsASetClock) {
  EXPECT_EQ(ClockCheck({0, true}).status, CheckStatus::kFail);
  constexpr int64_t kIn2026 = int64_t{1'780'000'000} * 1'000'000'000;
  EXPECT_EQ(ClockCheck({kIn2026, true}).status, CheckStatus::kOk);
  EXPECT_EQ(ClockCheck({kIn2026, std::nullopt}).status, CheckStatus::kOk);
  EXPECT_EQ(ClockCheck({kIn2026, false}).status, CheckStatus::kWarn);
}

TEST(PolicyCheck, SaysThatNothingIsProfiled) {
  const Check refused = PolicyCheck({0, 2});
  EXPECT_EQ(refused.status, CheckStatus::kWarn);
  EXPECT_EQ(refused.message, "no policy is in force: nothing is profiled (accepted 0, refused 2)");
  EXPECT_THAT(refused.fix, HasSubstr("the log names each"));
  const Check none = PolicyCheck({0, 0});
  EXPECT_EQ(none.status, CheckStatus::kWarn);
  EXPECT_THAT(none.fix, HasSubstr("--policy"));
  EXPECT_EQ(PolicyCheck({1, 1}).status, CheckStatus::kWarn);
  EXPECT_EQ(PolicyCheck({1, 0}).status, CheckStatus::kOk);
}

TEST(RunDoctor, ShowsPoliciesOnlyWhereTheyAreKnown) {
  DoctorInput input;
  const auto shown = [&input] {
    size_t count = 0;
    for (const Check& check : RunDoctor(input)) count += check.name == "policies";
    return count;
  };
  EXPECT_EQ(shown(), 0u);
  input.policies = [] { return std::optional<PolicyFacts>(); };
  EXPECT_EQ(shown(), 0u);
  input.policies = [] { return std::optional(PolicyFacts{0, 1}); };
  EXPECT_EQ(shown(), 1u);
}

TEST(LinesOfFailed, LeavesOutWarningsAndWhatIsWell) {
  const std::vector<Check> checks = {{"btf", CheckStatus::kFail, "no BTF", "another kernel"},
                                     {"kallsyms", CheckStatus::kWarn, "no names", "a sysctl"},
                                     {"clock", CheckStatus::kOk, "set", ""},
                                     {"memlock", CheckStatus::kFail, "too low", ""}};
  EXPECT_THAT(LinesOfFailed(checks), ::testing::ElementsAre("check btf: no BTF; another kernel",
                                                            "check memlock: too low"));
}

TEST(RunDoctor, EveryComplaintHasAFix) {
  FakeHost empty;  // nothing is as it should be
  DoctorInput input{empty.proc(), empty.sys(), 512 << 10,
                    [] {
                      return CgroupFacts{"", "", "none is mounted"};
                    },
                    [] {
                      StoreFacts facts{.url = "file:///s"};
                      facts.error = Error(ErrorCode::kInternal, "read-only");
                      return facts;
                    }};
  size_t complaints = 0;
  for (const Check& check : RunDoctor(input)) {
    EXPECT_FALSE(check.name.empty());
    EXPECT_FALSE(check.message.empty()) << check.name;
    EXPECT_EQ(check.status == CheckStatus::kOk, check.fix.empty()) << check.name;
    complaints += check.status != CheckStatus::kOk;
  }
  EXPECT_GE(complaints, 7u);
}

TEST(RunDoctor, ReadsThisMachine) {
  std::vector<Check> checks = RunDoctor({});
  EXPECT_EQ(checks[0].name, "kernel");
  EXPECT_GE(checks.size(), 15u);
}

}  // namespace
}  // namespace firetower::daemon
