// SPDX-License-Identifier: Apache-2.0
// Decides which policy's status is written when. Every agent watches the policies, so a write costs
// the API server 27 µs and 1.8 KB per node (measured): at 5,000 nodes two writes per second take a
// quarter of a core. Time is passed in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "k8s/status/policy_status.h"

namespace firetower::k8s {

// The most urgent difference between a new status and the written one.
enum class StatusChange : uint8_t {
  kNone,
  kPodCounts,  // counts of pods and captures, and messages
  kOrdinary,
  kUrgent,  // the first of a generation, and its settling
};
StatusChange ChangeOf(const PolicyStatus& written, const PolicyStatus& wanted);

// Belongs to one thread. Holds an entry for each policy; the owner must Forget policies that are
// gone.
class WriteBudget {
 public:
  static constexpr int64_t kPolicyNs = 5 * kNsPerSecond;
  static constexpr int64_t kPodCountsNs = 300 * kNsPerSecond;
  static constexpr int64_t kWriteNs = kNsPerSecond / 2;  // two a second in all
  // So many urgent writes may come at once before that pace holds for them too.
  static constexpr int64_t kBurst = 10;

  // Notes that a policy has this change to be written; kNone cancels it.
  void Want(const std::string& key, StatusChange change, int64_t now_ns);
  void Forget(const std::string& key) { entries_.erase(key); }

  // Returns the policy to write now, if any: urgent ones first, then the one that has waited
  // longest.
  std::optional<std::string> Next(int64_t now_ns) const;
  // Returns the time at which Next will return a policy if nothing else happens; INT64_MAX for
  // never.
  int64_t NextDueNs() const;

  void Wrote(const std::string& key, int64_t now_ns);
  // Notes a failed write: it is not tried before `until_ns`. The attempt counts as a write.
  void Defer(const std::string& key, int64_t now_ns, int64_t until_ns);

 private:
  struct Entry {
    StatusChange change = StatusChange::kNone;
    int64_t since_ns = 0;               // of the wish
    std::optional<int64_t> written_ns;  // the last write
    int64_t not_before_ns = 0;          // after a failure
  };
  int64_t DueNs(const Entry& entry) const;
  void Spend(int64_t now_ns);

  std::map<std::string, Entry> entries_;
  // The common budget: each write takes kWriteNs; urgent ones may run ahead by kBurst writes.
  int64_t spent_until_ns_ = 0;
};

}  // namespace firetower::k8s
