// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "k8s/client/api_client.h"
#include "k8s/lease/leader_election.h"

namespace firetower::k8s {

// Takes part in an election, step by step. Belongs to one thread, except Leads and the counts,
// which any thread may read.
class LeaseKeeper {
 public:
  // `server` and `clock` must outlive this.
  LeaseKeeper(ApiServer& server, const Clock& clock, std::string namespace_name, std::string name,
              ElectionOptions options);

  // Reads the lease, and tries to acquire or renew it when it is due. Returns the time to wait
  // before the next step.
  int64_t StepNs();
  // Releases the lease, through a server that may differ from the one of the steps.
  void Release(ApiServer& server);

  bool Leads() const { return clock_.MonotonicNs() < leads_until_ns_.load(); }
  // The number of times that this candidate became the leader.
  uint64_t terms() const { return terms_.load(); }
  uint64_t failures() const { return failures_.load(); }

 private:
  // Reads the Lease from the server. Returns false when that fails.
  bool Look();
  void Try(const LeaseRecord& wanted);
  void Fail(const std::string& message);
  void Publish();

  ApiServer& server_;
  const Clock& clock_;
  const std::string namespace_;
  const std::string name_;
  LeaderElection election_;
  bool failing_ = false;  // it was said once
  std::atomic<int64_t> leads_until_ns_ = 0;
  std::atomic<uint64_t> terms_ = 0;
  std::atomic<uint64_t> failures_ = 0;
};

}  // namespace firetower::k8s
