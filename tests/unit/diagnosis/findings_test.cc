// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/diagnosis/profiles.h"

namespace firetower::diagnosis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Signature SignatureOf(std::vector<std::vector<std::string>> stack, double least = 5) {
  Signature one;
  one.name = "one";
  one.types = {"cpu"};
  one.stack = std::move(stack);
  one.at_least_percent = least;
  one.cause = "a cause";
  one.next = "a step";
  return one;
}

std::vector<Finding> Find(const profile::Profile& profile, const Signature& signature) {
  return FindSignatures(profile, 1, "cpu", {&signature, 1});
}

TEST(FindSignatures, TellsThePartTheStackTheCallersAndTheProcesses) {
  const profile::Profile profile =
      ProfileOf()
          .Add({{"main"}, {"write"}, {"spin", kKernelModule}}, 60, "web")
          .Add({{"main"}, {"read"}, {"spin", kKernelModule}, {"pause", kKernelModule}}, 20, "db")
          .Add({{"main"}}, 120, "web")
          .Build();
  const std::vector<Finding> findings = Find(profile, SignatureOf({{"spin"}}));
  ASSERT_EQ(findings.size(), 1u);
  const Finding& one = findings[0];
  EXPECT_EQ(one.signature, "one");
  EXPECT_EQ(one.cause, "a cause");
  EXPECT_DOUBLE_EQ(one.percent, 40);
  EXPECT_DOUBLE_EQ(one.confidence, 1 - 0.5 * 5 / 40);
  ASSERT_EQ(one.evidence.size(), 5u);
  EXPECT_THAT(one.evidence[0].stack, ElementsAre("main", "write", "spin"));
  EXPECT_EQ(one.evidence[1].what, "called by write");
  EXPECT_DOUBLE_EQ(one.evidence[1].percent, 30);
  EXPECT_EQ(one.evidence[3].what, "in process web");
}

TEST(FindSignatures, WantsStepsInTheirOrder) {
  const Signature open_then_call = SignatureOf({{"cpuinfo_open"}, {"call*"}});
  EXPECT_EQ(Find(ProfileOf()
                     .Add({{"cpuinfo_open", kKernelModule}, {"x"}, {"call_one", kKernelModule}}, 9)
                     .Build(),
                 open_then_call)
                .size(),
            1u);
  EXPECT_THAT(Find(ProfileOf().Add({{"call_one"}, {"cpuinfo_open"}}, 9).Build(), open_then_call),
              IsEmpty());
}

TEST(FindSignatures, CountsAStackOnceHoweverOftenAFrameIsInIt) {
  const profile::Profile profile = ProfileOf().Add({{"spin"}, {"spin"}, {"spin"}}, 10).Build();
  EXPECT_DOUBLE_EQ(Find(profile, SignatureOf({{"spin"}}))[0].percent, 100);
}

TEST(FindSignatures, HoldsToPrivilegeProcessesTypesAndTheLeastPart) {
  const profile::Profile user = ProfileOf().Add({{"spin"}}, 10, "web").Build();
  Signature one = SignatureOf({{"spin"}});
  one.where = Where::kKernel;
  EXPECT_THAT(Find(user, one), IsEmpty());
  one.where = Where::kUser;
  EXPECT_EQ(Find(user, one).size(), 1u);
  one.comms = {"w*"};
  EXPECT_EQ(Find(user, one).size(), 1u);
  one.comms = {"db"};
  EXPECT_THAT(Find(user, one), IsEmpty());
  one.comms.clear();
  EXPECT_THAT(FindSignatures(user, 1, "offcpu", {&one, 1}), IsEmpty());
  one.types = {"event"};
  EXPECT_EQ(FindSignatures(user, 1, "event:page-faults", {&one, 1}).size(), 1u);
  const profile::Profile little = ProfileOf().Add({{"spin"}}, 4).Add({{"main"}}, 96).Build();
  EXPECT_THAT(Find(little, SignatureOf({{"spin"}})), IsEmpty());
  EXPECT_THAT(Find(ProfileOf().Build(), SignatureOf({{"spin"}})), IsEmpty());
}

TEST(Diagnose, PutsTheMostLikelyFirst) {
  const profile::Profile profile = ProfileOf()
                                       .Add({{"main"}, {"nft_do_chain", kKernelModule}}, 700)
                                       .Add({{"main"}, {"do_try_to_free_pages", kKernelModule}}, 60)
                                       .Add({{"main"}}, 240)
                                       .Build();
  const Report report = Diagnose(profile, 1, "cpu");
  EXPECT_EQ(report.samples, 1000);
  EXPECT_EQ(report.unit, "nanoseconds");
  EXPECT_EQ(report.verdict.domain, Domain::kKernel);
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].signature, "packet-filter-rules");
  EXPECT_EQ(report.findings[1].signature, "memory-reclaim");
  EXPECT_THAT(report.findings[0].next, HasSubstr("nft list ruleset"));
}

TEST(Diagnose, OfAHealthyProgramFindsNothing) {
  const profile::Profile profile =
      ProfileOf()
          .Add({{"main"}, {"serve"}, {"parse"}}, 700)
          .Add({{"main"}, {"serve"}, {"malloc", "/lib/libc.so.6"}}, 60)
          .Add({{"main"}, {"epoll_wait"}, {"do_syscall_64", kKernelModule}}, 240)
          .Build();
  EXPECT_THAT(Diagnose(profile, 1, "cpu").findings, IsEmpty());
}

}  // namespace
}  // namespace firetower::diagnosis
