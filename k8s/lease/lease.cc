// SPDX-License-Identifier: Apache-2.0
#include "k8s/lease/lease.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/json.h"
#include "k8s/watch/object_fields.h"
#include "k8s/watch/object_meta.h"

namespace firetower::k8s {
namespace {

std::string SpecJson(const LeaseRecord& record) {
  return fmt::format(
      R"({{"holderIdentity":"{}","leaseDurationSeconds":{},"acquireTime":"{}","renewTime":"{}",)"
      R"("leaseTransitions":{}}})",
      JsonEscape(record.holder), record.duration_seconds, JsonEscape(record.acquire_time),
      JsonEscape(record.renew_time), record.transitions);
}

}  // namespace

std::string LeaseFolder(std::string_view namespace_name) {
  return fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases", namespace_name);
}

Result<LeaseRecord> ReadLease(std::string_view json) {
  ASSIGN_OR_RETURN(const Node object, ParseObject(json, {"metadata.resourceVersion", "spec"}));
  LeaseRecord record;
  record.resource_version = TextAt(object, {"metadata", "resourceVersion"});
  if (record.resource_version.empty())
    return Error(ErrorCode::kCorrupt, "the answer is not a Lease: it has no resourceVersion");
  record.holder = TextAt(object, {"spec", "holderIdentity"});
  record.duration_seconds = IntegerAt(object, {"spec", "leaseDurationSeconds"});
  record.acquire_time = TextAt(object, {"spec", "acquireTime"});
  record.renew_time = TextAt(object, {"spec", "renewTime"});
  record.transitions = std::clamp<int64_t>(IntegerAt(object, {"spec", "leaseTransitions"}), 0,
                                           std::numeric_limits<int32_t>::max() - 1);
  return record;
}

std::string NewLeaseJson(std::string_view name, std::string_view namespace_name,
                         const LeaseRecord& record) {
  return fmt::format(
      R"({{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{{"name":"{}",)"
      R"("namespace":"{}"}},"spec":{}}})",
      JsonEscape(name), JsonEscape(namespace_name), SpecJson(record));
}

std::string LeasePatchJson(const LeaseRecord& record) {
  return fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}},"spec":{}}})",
                     JsonEscape(record.resource_version), SpecJson(record));
}

}  // namespace firetower::k8s
