// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/capabilities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>

#include <algorithm>

namespace firetower::daemon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t Bit(int number) { return uint64_t{1} << number; }

// Numbers from the kernel's own header.
constexpr uint64_t kSix = Bit(CAP_BPF) | Bit(CAP_PERFMON) | Bit(CAP_SYS_PTRACE) | Bit(CAP_SYSLOG) |
                          Bit(CAP_DAC_READ_SEARCH) | Bit(CAP_CHECKPOINT_RESTORE);

std::vector<std::string> NotOk(const std::vector<Check>& checks) {
  std::vector<std::string> names;
  for (const Check& check : checks) {
    if (check.status != CheckStatus::kOk) names.push_back(check.name);
  }
  return names;
}

TEST(Privileges, ReadsTheStatusFile) {
  auto privileges = ParsePrivileges(
      "Name:\tfiretowerd\nCapInh:\t0000000000000000\nCapPrm:\t000001ffffffffff\n"
      "CapEff:\t000001c400080004\nCapBnd:\t000001ffffffffff\nNoNewPrivs:\t1\nSeccomp:\t2\n"
      "Seccomp_filters:\t1\n");
  ASSERT_TRUE(privileges) << privileges.error().message();
  EXPECT_EQ(privileges->effective, kSix);
  EXPECT_TRUE(privileges->seccomp_filter);
}

TEST(Privileges, RefusesAnythingElse) {
  EXPECT_FALSE(ParsePrivileges(""));
  EXPECT_FALSE(ParsePrivileges("CapEff:\n"));
  EXPECT_FALSE(ParsePrivileges("CapEff:\tzz\n"));
  EXPECT_FALSE(ParsePrivileges("CapPrm:\t000001ffffffffff\n"));
  std::string_view status = "Name:\tx\nCapEff:\t000001c400080004\nSeccomp:\t2\n";
  for (size_t n = 0; n <= status.size(); ++n) (void)ParsePrivileges(status.substr(0, n));
}

TEST(CapabilityChecks, SixSuffice) { EXPECT_TRUE(NotOk(CapabilityChecks({kSix, false})).empty()); }

TEST(CapabilityChecks, NameEachMissingOne) {
  for (const CapabilityUse& use : CapabilityUses()) {
    uint64_t without = kSix & ~Bit(static_cast<int>(use.capability));
    EXPECT_EQ(NotOk(CapabilityChecks({without, false})),
              std::vector<std::string>{std::string(use.name)});
  }
}

TEST(CapabilityChecks, SysAdminStandsForThoseSplitFromIt) {
  EXPECT_EQ(NotOk(CapabilityChecks({Bit(CAP_SYS_ADMIN), false})),
            (std::vector<std::string>{"CAP_SYS_PTRACE", "CAP_SYSLOG", "CAP_DAC_READ_SEARCH"}));
}

TEST(CapabilityError, NamesTheMissingCapability) {
  Error bpf = CapabilityError(ErrnoError("load program cpu_sample", EPERM), PrivilegedCall::kBpf,
                              {kSix & ~Bit(CAP_BPF), true});
  EXPECT_EQ(bpf.code(), ErrorCode::kPermission);
  EXPECT_EQ(bpf.sys_errno(), EPERM);
  EXPECT_THAT(bpf.message(), HasSubstr("load program cpu_sample"));
  EXPECT_THAT(bpf.message(), HasSubstr("CAP_BPF is missing"));
  EXPECT_THAT(CapabilityError(ErrnoError("x", EPERM), PrivilegedCall::kBpf,
                              {kSix & ~Bit(CAP_PERFMON), false})
                  .message(),
              HasSubstr("CAP_PERFMON is missing"));
  EXPECT_THAT(CapabilityError(ErrnoError("x", EACCES), PrivilegedCall::kPerfEventOpen, {0, false})
                  .message(),
              HasSubstr("CAP_PERFMON is missing"));
  EXPECT_THAT(
      CapabilityError(ErrnoError("x", EACCES), PrivilegedCall::kReadProcess, {0, false}).message(),
      HasSubstr("CAP_SYS_PTRACE is missing"));
  EXPECT_THAT(
      CapabilityError(ErrnoError("x", EPERM), PrivilegedCall::kKernelSymbols, {0, false}).message(),
      HasSubstr("CAP_SYSLOG is missing"));
  EXPECT_THAT(
      CapabilityError(ErrnoError("x", EPERM), PrivilegedCall::kMapFiles, {0, false}).message(),
      HasSubstr("CAP_CHECKPOINT_RESTORE is missing"));
}

TEST(CapabilityError, SaysOnceWhatFailed) {
  std::string message = CapabilityError(ErrnoError("load program cpu_sample", EPERM),
                                        PrivilegedCall::kBpf, {0, false})
                            .message();
  size_t refused = message.find("Operation not permitted");
  ASSERT_NE(refused, std::string::npos) << message;
  EXPECT_EQ(message.find("Operation not permitted", refused + 1), std::string::npos) << message;
}

TEST(CapabilityError, NamesWhatElseMayRefuseWhenNoCapabilityIsMissing) {
  // Every pod has a filter: it is not the only thing to look at.
  EXPECT_THAT(CapabilityError(ErrnoError("x", EPERM), PrivilegedCall::kBpf, {kSix, true}).message(),
              AllOf(HasSubstr("RLIMIT_MEMLOCK"), HasSubstr("a seccomp filter, which is on")));
  EXPECT_THAT(CapabilityError(ErrnoError("x", EPERM), PrivilegedCall::kPerfEventOpen, {kSix, false})
                  .message(),
              HasSubstr("kernel.perf_event_mlock_kb"));
}

TEST(CapabilityError, LeavesOtherFailuresPlain) {
  Error error = CapabilityError(ErrnoError("open x", ENOENT), PrivilegedCall::kBpf, {0, true});
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.message(), Not(HasSubstr("missing")));
}

TEST(ReadPrivileges, ReadsOurOwn) { EXPECT_TRUE(ReadPrivileges("/proc")); }

}  // namespace
}  // namespace firetower::daemon
