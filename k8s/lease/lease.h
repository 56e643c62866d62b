// SPDX-License-Identifier: Apache-2.0
// A coordination.k8s.io/v1 Lease, which elects one leader among several candidates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::k8s {

struct LeaseRecord {
  std::string holder;  // empty: none
  int64_t duration_seconds = 0;
  std::string acquire_time;  // both times as the holder wrote them; they are only compared for
                             // changes
  std::string renew_time;
  int64_t transitions = 0;
  std::string resource_version;

  bool operator==(const LeaseRecord&) const = default;
};

// Returns "/apis/coordination.k8s.io/v1/namespaces/firetower/leases".
std::string LeaseFolder(std::string_view namespace_name);

// Parses a Lease. kCorrupt: it is not one.
Result<LeaseRecord> ReadLease(std::string_view json);

// Return a new object, and a merge patch that applies only to the version of `record` (else 409)
// and leaves fields of others unchanged.
std::string NewLeaseJson(std::string_view name, std::string_view namespace_name,
                         const LeaseRecord& record);
std::string LeasePatchJson(const LeaseRecord& record);

}  // namespace firetower::k8s
