// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/status_writer.h"

#include <fmt/core.h>

#include "base/json.h"
#include "k8s/status/api_call.h"

namespace firetower::k8s {

WriteOutcome OutcomeOf(const Result<ApiAnswer>& answer) {
  WriteOutcome outcome;
  if (!answer) {
    outcome.end = WriteEnd::kFailed;
    outcome.message = answer.error().message();
    return outcome;
  }
  outcome.status = answer->status;
  outcome.message = answer->message;
  outcome.retry_after_ns = answer->retry_after_ns;
  if (answer->ok()) {
    outcome.resource_version = ResourceVersionOf(answer->body);
  } else if (answer->status == 409) {
    outcome.end = WriteEnd::kConflict;
  } else if (answer->status == 404 || answer->status == 410) {
    outcome.end = WriteEnd::kGone;
  } else if (answer->status == 429 || answer->status >= 500) {
    outcome.end = WriteEnd::kFailed;
  } else {
    outcome.end = WriteEnd::kRefused;
  }
  return outcome;
}

std::string PolicyPath(const WatchedPolicy& policy) {
  if (policy.cluster) return fmt::format("{}/clusterprofilingpolicies/{}", kPolicyApi, policy.name);
  return fmt::format("{}/namespaces/{}/profilingpolicies/{}", kPolicyApi, policy.namespace_name,
                     policy.name);
}

WriteOutcome WriteStatus(ApiServer& server, const WatchedPolicy& policy,
                         const PolicyStatus& status) {
  ApiRequest request;
  request.method = "PATCH";
  request.target = PolicyPath(policy) + "/status?fieldManager=firetower-hub";
  request.body = StatusPatchJson(status, policy.resource_version);
  request.content_type = kMergePatch;
  return OutcomeOf(Call(server, request));
}

WriteOutcome DeletePolicy(ApiServer& server, const WatchedPolicy& policy) {
  ApiRequest request;
  request.method = "DELETE";
  request.target = PolicyPath(policy);
  request.body = fmt::format(
      R"({{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{{"uid":"{}","resourceVersion":"{}"}}}})",
      JsonEscape(policy.object.uid), JsonEscape(policy.resource_version));
  request.content_type = kJson;
  return OutcomeOf(Call(server, request));
}

}  // namespace firetower::k8s
