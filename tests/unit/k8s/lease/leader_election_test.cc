// SPDX-License-Identifier: Apache-2.0
#include "k8s/lease/leader_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::k8s {
namespace {

constexpr int64_t kStart = 100 * kNsPerSecond;
constexpr int64_t kSecond = kNsPerSecond;

LeaderElection Candidate(std::string identity = "me") {
  ElectionOptions options;
  options.identity = std::move(identity);
  return LeaderElection(options);
}

LeaseRecord Lease(std::string holder, std::string version, std::string renewed = "r") {
  return {std::move(holder), 15, "a", std::move(renewed), 3, std::move(version)};
}

TEST(ElectionOptions, StopBeforeAnotherMayBegin) {
  const ElectionOptions options;
  EXPECT_GT(options.lease_ns, options.renew_ns);
  EXPECT_GT(options.renew_ns, options.retry_ns * 12 / 10);
}

TEST(LeaderElection, CreatesALeaseThatIsNotThere) {
  LeaderElection election = Candidate();
  EXPECT_FALSE(election.Attempt(kStart, "now")) << "nothing is known yet";
  election.Observe(std::nullopt, kStart);
  const auto wanted = election.Attempt(kStart, "now");
  ASSERT_TRUE(wanted);
  EXPECT_EQ(*wanted, (LeaseRecord{"me", 15, "now", "now", 0, ""}));
  EXPECT_FALSE(election.Leads(kStart)) << "not before the server says so";
  election.Accepted(Lease("me", "1"), kStart, kStart + kSecond);
  EXPECT_TRUE(election.Leads(kStart + 10 * kSecond - 1));
  EXPECT_FALSE(election.Leads(kStart + 10 * kSecond)) << "from before the request was sent";
}

TEST(LeaderElection, TakesNothingThatIsRenewed) {
  LeaderElection election = Candidate();
  for (int i = 0; i < 20; ++i) {
    const int64_t now = kStart + i * 14 * kSecond;
    election.Observe(Lease("other", std::to_string(i)), now);
    EXPECT_FALSE(election.Attempt(now + 14 * kSecond, "now"));
  }
}

// The other's clock may be hours away: only that nothing changes counts, and since it was seen.
TEST(LeaderElection, TakesWhatWasNotRenewedForItsDuration) {
  LeaderElection election = Candidate();
  election.Observe(Lease("other", "7", "1999-01-01T00:00:00.000000Z"), kStart);
  EXPECT_FALSE(election.Attempt(kStart, "now"));
  election.Observe(Lease("other", "7", "1999-01-01T00:00:00.000000Z"), kStart + 14 * kSecond);
  EXPECT_FALSE(election.Attempt(kStart + 15 * kSecond - 1, "now"));
  const auto wanted = election.Attempt(kStart + 15 * kSecond, "now");
  ASSERT_TRUE(wanted);
  EXPECT_EQ(*wanted, (LeaseRecord{"me", 15, "now", "now", 4, "7"}));
}

TEST(LeaderElection, TakesAReleasedLeaseAtOnce) {
  LeaderElection election = Candidate();
  election.Observe(Lease("", "8"), kStart);
  EXPECT_TRUE(election.Attempt(kStart, "now"));
}

TEST(LeaderElection, RenewsWithoutBeginningATerm) {
  LeaderElection election = Candidate();
  election.Accepted(Lease("me", "9"), kStart, kStart);
  const auto wanted = election.Attempt(kStart + 2 * kSecond, "later");
  ASSERT_TRUE(wanted);
  EXPECT_EQ(*wanted, (LeaseRecord{"me", 15, "a", "later", 3, "9"}));
  election.Accepted(Lease("me", "10"), kStart + 2 * kSecond, kStart + 3 * kSecond);
  EXPECT_EQ(election.leads_until_ns(), kStart + 12 * kSecond);
}

TEST(LeaderElection, StopsWhenAnotherHasIt) {
  LeaderElection election = Candidate();
  election.Accepted(Lease("me", "9"), kStart, kStart);
  election.Refused();
  EXPECT_FALSE(election.known());
  EXPECT_TRUE(election.Leads(kStart + kSecond)) << "one refusal is no loss";
  election.Observe(Lease("other", "11"), kStart + kSecond);
  EXPECT_FALSE(election.Leads(kStart + kSecond));
  EXPECT_FALSE(election.Attempt(kStart + kSecond, "now"));
}

// Paused past its lease, as by SIGSTOP: when it comes back it does not lead, and looks first.
TEST(LeaderElection, APausedLeaderDoesNotActOn) {
  LeaderElection election = Candidate();
  election.Accepted(Lease("me", "9"), kStart, kStart);
  EXPECT_FALSE(election.Leads(kStart + 60 * kSecond));
  election.Observe(Lease("other", "20"), kStart + 60 * kSecond);
  EXPECT_FALSE(election.Attempt(kStart + 60 * kSecond, "now"));
}

TEST(LeaderElection, GivesUpWhatItHolds) {
  LeaderElection election = Candidate();
  election.Accepted(Lease("me", "9"), kStart, kStart);
  const auto released = election.Release(kStart + kSecond, "end");
  ASSERT_TRUE(released);
  EXPECT_EQ(*released, (LeaseRecord{"", 1, "a", "end", 3, "9"}));
  EXPECT_FALSE(election.Leads(kStart + kSecond));
  LeaderElection other = Candidate("other");
  other.Observe(Lease("me", "9"), kStart);
  EXPECT_FALSE(other.Release(kStart, "end"));
}

// Two candidates and one server that takes a write only for the version it was made from: at no
// moment do both lead, wherever requests are lost, late or refused.
TEST(LeaderElection, NeverTwoAtOnce) {
  uint32_t random = 12345;
  const auto chance = [&](uint32_t percent) {
    random = random * 1664525 + 1013904223;
    return (random >> 8) % 100 < percent;
  };
  LeaderElection candidates[2] = {Candidate("a"), Candidate("b")};
  std::optional<LeaseRecord> server;
  int version = 0;
  int terms[2] = {0, 0};
  bool led[2] = {false, false};
  for (int64_t now = kStart; now < kStart + 20000 * kSecond; now += kSecond / 2) {
    for (int i = 0; i < 2; ++i) {
      if (chance(70)) continue;  // paused
      LeaderElection& one = candidates[i];
      if (chance(30)) one.Refused();
      if (!one.known() || !one.Leads(now)) {
        if (chance(20)) continue;
        one.Observe(server, now);
      }
      const auto wanted = one.Attempt(now, std::to_string(now));
      if (!wanted || chance(10)) continue;  // lost on its way
      if (wanted->resource_version != (server ? server->resource_version : "")) {
        one.Refused();
        continue;
      }
      server = *wanted;
      server->resource_version = std::to_string(++version);
      if (chance(10)) {
        one.Refused();  // taken, but the answer is lost
      } else {
        one.Accepted(*server, now, now);
      }
    }
    ASSERT_FALSE(candidates[0].Leads(now) && candidates[1].Leads(now)) << now;
    for (int i = 0; i < 2; ++i) {
      if (candidates[i].Leads(now) && !led[i]) ++terms[i];
      led[i] = candidates[i].Leads(now);
    }
  }
  EXPECT_GT(terms[0], 10);
  EXPECT_GT(terms[1], 10);
}

}  // namespace
}  // namespace firetower::k8s
