// SPDX-License-Identifier: Apache-2.0
// Leader election by a Lease, by client-go's rules (leaderelection.go). Pure: time is passed
// in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "k8s/lease/lease.h"

namespace firetower::k8s {

struct ElectionOptions {
  std::string identity;  // differs from every other candidate's, also after a restart
  // Kubernetes' own components use these three. lease > renew > 1.2 x retry: whoever leads has
  // stopped before another may begin, and has had the chance to renew more than once.
  int64_t lease_ns = 15 * kNsPerSecond;
  int64_t renew_ns = 10 * kNsPerSecond;
  int64_t retry_ns = 2 * kNsPerSecond;
};

// Only the local monotonic clock counts, from the moment a change of the lease was seen: the times
// in the lease are other machines'. No fencing exists (a process may be paused at any point), so
// whatever a leader writes is conditional on what it read.
//
// Belongs to one thread.
class LeaderElection {
 public:
  explicit LeaderElection(ElectionOptions options) : options_(std::move(options)) {}

  // The lease as the server has it; nullopt: there is none.
  void Observe(const std::optional<LeaseRecord>& lease, int64_t now_ns);

  // Returns the record to write now, if any: to take a lease that is free or was not renewed for as
  // long as its holder said, or to renew ours. `now_text` is now as a MicroTime. Without a resource
  // version it is to be created.
  std::optional<LeaseRecord> Attempt(int64_t now_ns, const std::string& now_text) const;
  // The attempt that began at `began_ns` was accepted as `lease`.
  void Accepted(const LeaseRecord& lease, int64_t began_ns, int64_t now_ns);
  // It was not: somebody else was faster, or the object is gone. What is there is to be read again.
  void Refused() { known_ = false; }

  // Whether what is known of the lease may be what the server has.
  bool known() const { return known_; }
  // Until when this one may act as the leader: counted from before the request that renewed the
  // lease. 0 when it does not lead.
  int64_t leads_until_ns() const { return leads_until_ns_; }
  bool Leads(int64_t now_ns) const { return now_ns < leads_until_ns_; }

  // Gives the lease up, so that another takes it at its next look; what to write, if it is ours.
  std::optional<LeaseRecord> Release(int64_t now_ns, const std::string& now_text);

  const ElectionOptions& options() const { return options_; }
  const std::string& holder() const { return lease_.holder; }

 private:
  bool IsFree(int64_t now_ns) const;

  const ElectionOptions options_;
  bool known_ = false;
  bool exists_ = false;
  LeaseRecord lease_;
  int64_t changed_ns_ = 0;  // when lease_ was first seen as it is
  int64_t leads_until_ns_ = 0;
};

}  // namespace firetower::k8s
