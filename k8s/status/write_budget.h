// SPDX-License-Identifier: Apache-2.0
// When which policy's status is written. Every agent watches the policies, so a write costs the API
// server 27 µs and 1.8 KB a node (measured): at 5,000 nodes two writes a second are a quarter of a
// core. Pure: time is passed in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "k8s/status/policy_status.h"

namespace firetower::k8s {

// Most urgent difference between a new status and the written one.
enum class StatusChange : uint8_t {
  kNone,
  kPodCounts,  // counts of pods and captures, and messages
  kOrdinary,
  kUrgent,  // the first of a generation, and its settling
};
StatusChange ChangeOf(const PolicyStatus& written, const PolicyStatus& wanted);

// Belongs to one thread. Holds an entry a policy; Forget those that are gone.
class WriteBudget {
 public:
  static constexpr int64_t kPolicyNs = 5 * kNsPerSecond;
  static constexpr int64_t kPodCountsNs = 300 * kNsPerSecond;
  static constexpr int64_t kWriteNs = kNsPerSecond / 2;  // two a second in all
  // So many urgent writes may come at once before that pace holds for them too.
  static constexpr int64_t kBurst = 10;

  // That a policy has this change to be written; kNone takes it back.
  void Want(const std::string& key, StatusChange change, int64_t now_ns);
  void Forget(const std::string& key) { entries_.erase(key); }

  // Which policy is to be written now, if any: urgent ones first, then who waited longest.
  std::optional<std::string> Next(int64_t now_ns) const;
  // When Next will have an answer without anything else happening; INT64_MAX for never.
  int64_t NextDueNs() const;

  void Wrote(const std::string& key, int64_t now_ns);
  // The write failed: it is not tried before `until_ns`. The attempt counts as one.
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
  // The paces of all: each write takes kWriteNs; urgent ones may run kBurst of them ahead.
  int64_t spent_until_ns_ = 0;
};

}  // namespace firetower::k8s
