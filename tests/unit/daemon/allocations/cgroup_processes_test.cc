// SPDX-License-Identifier: Apache-2.0
#include "daemon/allocations/cgroup_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/command.h"
#include "tests/support/fake_proc.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::ScratchFolder;
using ::firetower::testing::WriteText;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(ProcessesIn, AreThoseOfTheCgroupAndBelowIt) {
  ScratchFolder mount;
  WriteText(mount.path() + "/pod/a/cgroup.procs", "7\n8\n");
  WriteText(mount.path() + "/pod/a/init/cgroup.procs", "9\n");
  WriteText(mount.path() + "/pod/b/cgroup.procs", "10\n");
  WriteText(mount.path() + "/cgroup.procs", "1\n");
  EXPECT_THAT(ProcessesIn(mount.path(), "/pod/a", {}), UnorderedElementsAre(7, 8, 9));
  EXPECT_THAT(ProcessesIn(mount.path(), "/", {"/", "/pod/a"}), UnorderedElementsAre(1, 10))
      << "those of another container are not the host's";
  EXPECT_THAT(ProcessesIn(mount.path(), "/gone", {}), IsEmpty());
}

TEST(ProcessesIn, LeavesOutWhatIsNoProcessHere) {
  ScratchFolder mount;
  WriteText(mount.path() + "/a/cgroup.procs", "0\n12\nx\n99999999999999\n13");
  EXPECT_THAT(ProcessesIn(mount.path(), "/a", {}), UnorderedElementsAre(12, 13));
}

}  // namespace
}  // namespace firetower::daemon
