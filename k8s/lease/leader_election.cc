// SPDX-License-Identifier: Apache-2.0
#include "k8s/lease/leader_election.h"

#include <algorithm>

namespace firetower::k8s {

void LeaderElection::Observe(const std::optional<LeaseRecord>& lease, int64_t now_ns) {
  known_ = true;
  exists_ = lease.has_value();
  const LeaseRecord seen = lease.value_or(LeaseRecord{});
  if (seen == lease_) return;
  lease_ = seen;
  changed_ns_ = now_ns;
  // Somebody took it; that they may have been wrong does not matter.
  if (lease_.holder != options_.identity) leads_until_ns_ = 0;
}

bool LeaderElection::IsFree(int64_t now_ns) const {
  if (!exists_ || lease_.holder.empty()) return true;
  // Limits a nonsensical duration: the holder keeps the Lease neither for ever nor for no time.
  const int64_t seconds = std::clamp<int64_t>(lease_.duration_seconds, 1, 3600);
  return now_ns - changed_ns_ >= seconds * kNsPerSecond;
}

std::optional<LeaseRecord> LeaderElection::Attempt(int64_t now_ns,
                                                   const std::string& now_text) const {
  if (!known_) return std::nullopt;
  const bool ours = exists_ && lease_.holder == options_.identity;
  if (!ours && !IsFree(now_ns)) return std::nullopt;
  LeaseRecord wanted = lease_;
  wanted.duration_seconds = options_.lease_ns / kNsPerSecond;
  wanted.renew_time = now_text;
  if (ours) return wanted;
  wanted.holder = options_.identity;
  wanted.acquire_time = now_text;
  if (exists_) ++wanted.transitions;
  return wanted;
}

void LeaderElection::Accepted(const LeaseRecord& lease, int64_t began_ns, int64_t now_ns) {
  known_ = exists_ = true;
  lease_ = lease;
  changed_ns_ = now_ns;
  leads_until_ns_ = lease.holder == options_.identity ? began_ns + options_.renew_ns : 0;
}

std::optional<LeaseRecord> LeaderElection::Release(int64_t now_ns, const std::string& now_text) {
  const bool ours = known_ && exists_ && lease_.holder == options_.identity && Leads(now_ns);
  leads_until_ns_ = 0;
  if (!ours) return std::nullopt;
  LeaseRecord released = lease_;
  released.holder.clear();
  // A holder of before client-go's ReleaseOnCancel would wait for the whole duration.
  released.duration_seconds = 1;
  released.renew_time = now_text;
  return released;
}

}  // namespace firetower::k8s
