// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/kernel_version.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>

namespace firetower::daemon {
namespace {

KernelIdentity Release(const char* release) { return {release, "", ""}; }

TEST(UpstreamVersion, ReadsReleases) {
  EXPECT_EQ(*UpstreamVersion(Release("5.10.0")), (KernelVersion{5, 10, 0}));
  EXPECT_EQ(*UpstreamVersion(Release("6.18.5-100.fc40.x86_64")), (KernelVersion{6, 18, 5}));
  EXPECT_EQ(*UpstreamVersion(Release("7.2-rc1")), (KernelVersion{7, 2, 0}));
  EXPECT_EQ(*UpstreamVersion(Release("5.15.133.1-microsoft-standard-WSL2")),
            (KernelVersion{5, 15, 133}));
  EXPECT_FALSE(UpstreamVersion(Release("")));
  EXPECT_FALSE(UpstreamVersion(Release("linux")));
  EXPECT_FALSE(UpstreamVersion(Release("6")));
}

TEST(UpstreamVersion, FindsThePatchLevelOfDebianAndUbuntu) {
  EXPECT_EQ(*UpstreamVersion({"6.1.0-13-cloud-amd64",
                              "#1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1 (2023-09-29)", ""}),
            (KernelVersion{6, 1, 55}));
  EXPECT_EQ(*UpstreamVersion({"6.2.0-26-generic", "#26~22.04.1-Ubuntu SMP PREEMPT_DYNAMIC Thu Jul",
                              "Ubuntu 6.2.0-26.26~22.04.1-generic 6.2.13"}),
            (KernelVersion{6, 2, 13}));
}

TEST(UserReadsAllowed, RefusesTheKernelsThatCanFreeze) {
  // The fix is in 6.1.36, 6.3.10 and 6.4; 5.19 brought the fault.
  for (const char* good : {"5.10.0", "5.15.100", "5.18.19", "6.1.36", "6.1.158", "6.3.10", "6.3.13",
                           "6.4.0", "6.4.1", "6.12.0", "7.2-rc1", "6.5.0-rc2"}) {
    EXPECT_TRUE(UserReadsAllowed(Release(good))) << good;
  }
  for (const char* bad : {"5.19.0", "5.19.17", "6.0.19", "6.1.0", "6.1.35", "6.2.16", "6.3.9",
                          "6.3.0", "6.4.0-rc3", "", "unknown"}) {
    EXPECT_FALSE(UserReadsAllowed(Release(bad))) << bad;
  }
}

TEST(ReturnProbesAllowed, RefusesTheKernelsThatEndProcessesForThem) {
  for (const char* good : {"5.10.0", "6.1.158", "6.10.14", "6.12.95", "6.14.0", "6.18.5", "7.2.0"})
    EXPECT_TRUE(ReturnProbesAllowed(Release(good))) << good;
  for (const char* bad : {"6.11.0", "6.12.9", "6.13.1", "6.13.99", "unknown"})
    EXPECT_FALSE(ReturnProbesAllowed(Release(bad))) << bad;
}

TEST(UserReadsAllowed, JudgesDebianByItsPatchLevel) {
  EXPECT_TRUE(UserReadsAllowed({"6.1.0-44-amd64", "#1 SMP Debian 6.1.158-1 (2025-11-09)", ""}));
  EXPECT_FALSE(UserReadsAllowed({"6.1.0-9-amd64", "#1 SMP Debian 6.1.27-1 (2023-05-08)", ""}));
}

TEST(KernelChecks, NameTheFix) {
  auto old = KernelChecks(Release("5.4.250"));
  EXPECT_EQ(old[0].status, CheckStatus::kFail);
  EXPECT_EQ(old[0].fix, "upgrade the kernel to 5.10 or later");
  auto freezing = KernelChecks(Release("6.2.16"));
  EXPECT_EQ(freezing[0].status, CheckStatus::kOk);
  EXPECT_EQ(freezing[1].name, "user-reads");
  EXPECT_EQ(freezing[1].status, CheckStatus::kWarn);
  EXPECT_NE(freezing[1].message.find("user stacks are off"), std::string::npos);
}

TEST(ReadKernelIdentity, AgreesWithUname) {
  utsname names{};
  ASSERT_EQ(uname(&names), 0);
  KernelIdentity identity = ReadKernelIdentity("/proc");
  EXPECT_EQ(identity.release, names.release);
  EXPECT_EQ(identity.version, names.version);
}

}  // namespace
}  // namespace firetower::daemon
