// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/agent_faults.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>

#include <filesystem>

#include "tests/support/fake_proc.h"

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A /proc with this process's capabilities, and a kernel that hides its addresses or shows them.
class AgentFaultsTest : public ::testing::Test {
 protected:
  AgentFaults Without(std::initializer_list<int> missing, const char* stext_address) const {
    uint64_t held = ~uint64_t{0};
    for (const int capability : missing) held &= ~(uint64_t{1} << capability);
    testing::WriteText(proc_.root() + "/self/status",
                       fmt::format("CapEff:\t{:016x}\nSeccomp:\t0\n", held));
    testing::WriteText(proc_.root() + "/kallsyms", fmt::format("{} T _stext\n", stext_address));
    return ReadCapabilityFaults(proc_.root());
  }

  static constexpr const char* kHidden = "0000000000000000";
  static constexpr const char* kShown = "ffffffff81000000";
  const testing::FakeProc proc_{};
};

TEST_F(AgentFaultsTest, NoneWithAllCapabilities) {
  const AgentFaults faults = Without({}, kShown);
  EXPECT_EQ(faults.user_names, "");
  EXPECT_EQ(faults.kernel_names, "");
}

TEST_F(AgentFaultsTest, NamesWhatIsMissingForNames) {
  const AgentFaults faults = Without({CAP_SYS_PTRACE, CAP_SYSLOG}, kHidden);
  EXPECT_THAT(faults.user_names, StartsWith("CAP_SYS_PTRACE is missing: "));
  EXPECT_THAT(faults.kernel_names, StartsWith("CAP_SYSLOG is missing: "));
}

TEST_F(AgentFaultsTest, WhatIsShownToEveryoneNeedsNoCapability) {
  EXPECT_EQ(Without({CAP_SYSLOG}, kShown).kernel_names, "");
  EXPECT_EQ(Without({}, kHidden).kernel_names, "") << "the capability would not help";
}

TEST_F(AgentFaultsTest, SingleBinariesAreNoFaultOfAPolicy) {
  const AgentFaults faults = Without({CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE}, kShown);
  EXPECT_EQ(faults.user_names, "");
  EXPECT_EQ(faults.kernel_names, "");
}

TEST_F(AgentFaultsTest, APidNamespaceOfItsOwnIsOne) {
  EXPECT_EQ(Without({}, kShown).processes, "");
  std::filesystem::create_directories(proc_.root() + "/self/ns");
  std::filesystem::create_symlink("pid:[4026532781]", proc_.root() + "/self/ns/pid");
  EXPECT_THAT(Without({}, kShown).processes, HasSubstr("PID namespace of its own"));
}

TEST_F(AgentFaultsTest, WhatCannotBeReadIsNoFault) {
  const AgentFaults faults = ReadCapabilityFaults(proc_.root());
  EXPECT_EQ(faults.user_names, "");
  EXPECT_EQ(faults.kernel_names, "");
}

}  // namespace
}  // namespace firetower::daemon
