// SPDX-License-Identifier: Apache-2.0
// A coordination.k8s.io/v1 Lease: who of several leads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::k8s {

struct LeaseRecord {
  std::string holder;  // empty: nobody
  int64_t duration_seconds = 0;
  std::string acquire_time;  // as the holder wrote them; only their change means anything here
  std::string renew_time;
  int64_t transitions = 0;
  std::string resource_version;

  bool operator==(const LeaseRecord&) const = default;
};

// "/apis/coordination.k8s.io/v1/namespaces/firetower/leases"
std::string LeaseFolder(std::string_view namespace_name);

// kCorrupt when it is no Lease.
Result<LeaseRecord> ReadLease(std::string_view json);

// A new object, and a merge patch that holds only for the version of `record` (409 otherwise), so
// that fields of others stay as they are.
std::string NewLeaseJson(std::string_view name, std::string_view namespace_name,
                         const LeaseRecord& record);
std::string LeasePatchJson(const LeaseRecord& record);

}  // namespace firetower::k8s
