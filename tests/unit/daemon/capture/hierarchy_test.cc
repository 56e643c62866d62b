// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/hierarchy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kRoot = "/sys/fs/cgroup";

// systemd 247 and later, unified (Debian 12).
constexpr std::string_view kPureMounts =
    "22 28 0:20 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw\n"
    "26 22 0:23 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 "
    "rw,nsdelegate,memory_recursiveprot\n"
    "28 1 259:1 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p1 rw\n";
constexpr std::string_view kPureSelf = "0::/system.slice/firetower.service\n";

// systemd hybrid (Debian 10): v2 beside v1, cpu and cpuacct in one hierarchy.
constexpr std::string_view kHybridMounts =
    "24 17 0:21 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:8 - tmpfs tmpfs ro,mode=755\n"
    "25 24 0:22 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
    "26 24 0:23 / /sys/fs/cgroup/systemd rw,nosuid shared:10 - cgroup cgroup "
    "rw,xattr,name=systemd\n"
    "30 24 0:27 / /sys/fs/cgroup/rdma rw,nosuid shared:15 - cgroup cgroup rw,rdma\n"
    "31 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:16 - cgroup cgroup rw,cpu,cpuacct\n"
    "32 24 0:29 / /sys/fs/cgroup/pids rw,nosuid shared:17 - cgroup cgroup rw,pids\n"
    "36 24 0:33 / /sys/fs/cgroup/memory rw,nosuid shared:21 - cgroup cgroup rw,memory\n";
constexpr std::string_view kHybridSelf =
    "9:memory:/\n8:rdma:/\n5:pids:/user.slice\n3:cpu,cpuacct:/\n1:name=systemd:/init.scope\n"
    "0::/init.scope\n";

// CentOS 7: v1 alone.
constexpr std::string_view kLegacyMounts =
    "25 18 0:20 / /sys/fs/cgroup ro shared:8 - tmpfs tmpfs ro,seclabel,mode=755\n"
    "26 25 0:21 / /sys/fs/cgroup/systemd rw shared:9 - cgroup cgroup rw,name=systemd\n"
    "29 25 0:24 / /sys/fs/cgroup/cpu,cpuacct rw shared:13 - cgroup cgroup "
    "rw,seclabel,cpuacct,cpu\n"
    "30 25 0:25 / /sys/fs/cgroup/net_cls,net_prio rw shared:14 - cgroup cgroup "
    "rw,net_prio,net_cls\n";
constexpr std::string_view kLegacySelf =
    "7:cpuacct,cpu:/user.slice\n4:net_prio,net_cls:/\n1:name=systemd:/user.slice\n";

// Each controller apart below a tmpfs, made by a plain init.
constexpr std::string_view kApartMounts =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
constexpr std::string_view kApartSelf =
    "9:name=systemd:/\n8:pids:/\n4:memory:/a/b\n2:cpuacct:/\n1:cpu:/\n0::/\n";

struct Want {
  std::string name, mount, mode;
  uint32_t id = 0;
};

void ExpectChoice(std::string_view wanted, std::string_view mounts, std::string_view self,
                  const Want& want) {
  Result<ChosenHierarchy> got = ChooseHierarchy(wanted, mounts, self, kRoot);
  ASSERT_TRUE(got) << wanted << ": " << got.error().message();
  EXPECT_EQ(got->Name(), want.name);
  EXPECT_EQ(got->mount, want.mount);
  EXPECT_EQ(got->mode, want.mode);
  EXPECT_EQ(got->hierarchy_id, want.id);
  EXPECT_EQ(got->v2, want.name == "v2");
}

Error Refusal(std::string_view wanted, std::string_view mounts, std::string_view self) {
  Result<ChosenHierarchy> got = ChooseHierarchy(wanted, mounts, self, kRoot);
  EXPECT_FALSE(got) << wanted;
  return got ? Error(ErrorCode::kInternal, "") : got.error();
}

TEST(Hierarchy, TakesV2WhereItIsAlone) {
  ExpectChoice("auto", kPureMounts, kPureSelf, {"v2", "/sys/fs/cgroup", "v2", 0});
  ExpectChoice("v2", kPureMounts, kPureSelf, {"v2", "/sys/fs/cgroup", "v2", 0});
}

TEST(Hierarchy, CallsANamedV1HierarchyBesideV2StillV2) {
  constexpr std::string_view kMounts =
      "26 22 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
      "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n";
  ExpectChoice("auto", kMounts, kPureSelf, {"v2", "/sys/fs/cgroup", "v2", 0});
}

TEST(Hierarchy, TakesMemoryOfAHybridHost) {
  ExpectChoice("auto", kHybridMounts, kHybridSelf,
               {"v1:memory", "/sys/fs/cgroup/memory", "hybrid", 9});
  ExpectChoice("v2", kHybridMounts, kHybridSelf, {"v2", "/sys/fs/cgroup/unified", "hybrid", 0});
}

TEST(Hierarchy, FindsEitherNameOfAControllerMountedWithAnother) {
  ExpectChoice("v1:cpuacct", kHybridMounts, kHybridSelf,
               {"v1:cpuacct", "/sys/fs/cgroup/cpu,cpuacct", "hybrid", 3});
  ExpectChoice("v1:cpu", kLegacyMounts, kLegacySelf,
               {"v1:cpu", "/sys/fs/cgroup/cpu,cpuacct", "v1", 7});
}

TEST(Hierarchy, FallsBackToCpuWhereMemoryAndPidsAreMissing) {
  ExpectChoice("auto", kLegacyMounts, kLegacySelf,
               {"v1:cpu", "/sys/fs/cgroup/cpu,cpuacct", "v1", 7});
}

TEST(Hierarchy, TakesControllersMountedApart) {
  ExpectChoice("auto", kApartMounts, kApartSelf,
               {"v1:memory", "/sys/fs/cgroup/memory", "hybrid", 4});
  ExpectChoice("v1:cpuacct", kApartMounts, kApartSelf,
               {"v1:cpuacct", "/sys/fs/cgroup/cpuacct", "hybrid", 2});
  ExpectChoice("v1:pids", kApartMounts, kApartSelf,
               {"v1:pids", "/sys/fs/cgroup/pids", "hybrid", 8});
  ExpectChoice("v2", kApartMounts, kApartSelf, {"v2", "/sys/fs/cgroup/unified", "hybrid", 0});
}

TEST(Hierarchy, TakesTheFirstOfTwoMountsOfOneHierarchy) {
  std::string mounts(kPureMounts);
  mounts += "90 28 0:23 /x /sys/fs/cgroup/bound rw - cgroup2 cgroup2 rw\n";
  ExpectChoice("v2", mounts, kPureSelf, {"v2", "/sys/fs/cgroup", "v2", 0});
}

TEST(Hierarchy, LooksBelowTheCgroupRootOnly) {
  // Neither a container engine's copy elsewhere nor a folder whose name merely begins alike.
  constexpr std::string_view kMounts =
      "80 28 0:23 / /run/engine/cgroup rw - cgroup2 cgroup2 rw\n"
      "81 28 0:23 / /sys/fs/cgroup2 rw - cgroup2 cgroup2 rw\n"
      "82 28 0:23 / /host/sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(Refusal("auto", kMounts, kPureSelf).code(), ErrorCode::kNotFound);
  Result<ChosenHierarchy> host =
      ChooseHierarchy("auto", kMounts, kPureSelf, "/host/sys/fs/cgroup/");
  ASSERT_TRUE(host) << host.error().message();
  EXPECT_EQ(host->mount, "/host/sys/fs/cgroup");
}

TEST(Hierarchy, SaysWhichHierarchyIsNotMounted) {
  Error no_v2 = Refusal("v2", kLegacyMounts, kLegacySelf);
  EXPECT_EQ(no_v2.code(), ErrorCode::kNotFound);
  EXPECT_THAT(no_v2.message(), HasSubstr("--cgroup-root"));
  Error no_memory = Refusal("v1:memory", kLegacyMounts, kLegacySelf);
  EXPECT_EQ(no_memory.code(), ErrorCode::kNotFound);
  EXPECT_THAT(no_memory.message(), HasSubstr("\"memory\""));
  EXPECT_EQ(Refusal("v1:memory", kPureMounts, kPureSelf).code(), ErrorCode::kNotFound);
  // Mounted, but without the controllers that `auto` looks for.
  constexpr std::string_view kOdd =
      "9 8 0:9 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";
  Error odd = Refusal("auto", kOdd, "3:cpuset:/\n");
  EXPECT_EQ(odd.code(), ErrorCode::kNotFound);
  EXPECT_THAT(odd.message(), HasSubstr("v1:<controller>"));
}

TEST(Hierarchy, SaysWhatMayBeWrittenInsteadOfASpellingError) {
  for (const char* wanted : {"", "v1", "v1:", "V2", "v2:memory", "cgroup2", "auto "}) {
    Error error = Refusal(wanted, kPureMounts, kPureSelf);
    EXPECT_EQ(error.code(), ErrorCode::kInvalid) << wanted;
    EXPECT_THAT(error.message(), HasSubstr("auto, v2 and v1:<controller>")) << wanted;
  }
}

TEST(Hierarchy, NeedsTheControllerInSelfCgroupToo) {
  Error error = Refusal("v1:memory", kApartMounts, "1:cpu:/\n0::/\n");
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.message(), HasSubstr("/proc/self/cgroup"));
}

TEST(Hierarchy, SurvivesEveryPrefixOfBothTexts) {
  for (size_t size = 0; size <= kHybridMounts.size(); ++size) {
    Result<ChosenHierarchy> got =
        ChooseHierarchy("auto", kHybridMounts.substr(0, size), kHybridSelf, kRoot);
    if (got) {
      EXPECT_EQ(got->mount.substr(0, kRoot.size()), kRoot);
    }
  }
  for (size_t size = 0; size <= kHybridSelf.size(); ++size) {
    Result<ChosenHierarchy> got =
        ChooseHierarchy("v1:pids", kHybridMounts, kHybridSelf.substr(0, size), kRoot);
    if (got) {
      EXPECT_EQ(got->hierarchy_id, 5u);
    }
  }
}

}  // namespace
}  // namespace firetower::daemon
