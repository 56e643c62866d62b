// SPDX-License-Identifier: Apache-2.0
// Leader election by a Lease, with client-go's rules (leaderelection.go). Time is passed in.
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
  // Kubernetes' own components use these three. lease > renew > 1.2 x retry: a leader stops before
  // another may begin, and can try to renew more than once before that.
  int64_t lease_ns = 15 * kNsPerSecond;
  int64_t renew_ns = 10 * kNsPerSecond;
  int64_t retry_ns = 2 * kNsPerSecond;
};

// Uses only the local monotonic clock, from the moment a change of the lease was seen, because the
// times in the lease come from other machines. There is no fencing (a process may be paused at any
// point), so every write of a leader must be conditional on what it read.
//
// Belongs to one thread.
class LeaderElection {
 public:
  explicit LeaderElection(ElectionOptions options) : options_(std::move(options)) {}

  // Takes the server's lease; nullopt: there is none.
  void Observe(const std::optional<LeaseRecord>& lease, int64_t now_ns);

  // Returns the record to write now, if any: to acquire a lease that is free or expired, or to
  // renew ours. `now_text` is now as a MicroTime. Without a resource version the object is to be
  // created.
  std::optional<LeaseRecord> Attempt(int64_t now_ns, const std::string& now_text) const;
  // Reports that the attempt that began at `began_ns` was accepted as `lease`.
  void Accepted(const LeaseRecord& lease, int64_t began_ns, int64_t now_ns);
  // Reports that the attempt failed: another candidate was faster, or the object is gone. The lease
  // must be read again.
  void Refused() { known_ = false; }

  // Tells whether the known lease may be the server's.
  bool known() const { return known_; }
  // The time until which this candidate may act as the leader, counted from before the request that
  // renewed the lease. 0 when it does not lead.
  int64_t leads_until_ns() const { return leads_until_ns_; }
  bool Leads(int64_t now_ns) const { return now_ns < leads_until_ns_; }

  // Returns the record that releases the lease, if it is ours, so that another candidate acquires
  // it at its next look.
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
