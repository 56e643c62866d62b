// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "k8s/client/api_client.h"
#include "k8s/status/aggregate.h"

namespace firetower::k8s {

struct ApiAnswer;

// The result of a write of one object.
enum class WriteEnd : uint8_t {
  kWritten,
  kConflict,  // the object changed meanwhile: compute the status again from its new state
  kGone,      // the object was deleted
  kRefused,   // the server refuses it now and later: a right or the definition is missing
  kFailed,    // the server is away or busy: again after `retry_after_ns`
};

struct WriteOutcome {
  WriteEnd end = WriteEnd::kWritten;
  int status = 0;                // of HTTP; 0: no answer
  std::string message;           // why it was not written
  std::string resource_version;  // of the object as written
  int64_t retry_after_ns = 0;    // as the server asked; 0 if it did not
};

// Returns the result of an exchange for the status that was to be written.
WriteOutcome OutcomeOf(const Result<ApiAnswer>& answer);

// Returns "/apis/firetower.dev/v1alpha1/namespaces/shop/profilingpolicies/checkout".
std::string PolicyPath(const WatchedPolicy& policy);

WriteOutcome WriteStatus(ApiServer& server, const WatchedPolicy& policy,
                         const PolicyStatus& status);
// Deletes this object only in this state: uid and version are preconditions.
WriteOutcome DeletePolicy(ApiServer& server, const WatchedPolicy& policy);

}  // namespace firetower::k8s
