// SPDX-License-Identifier: Apache-2.0
// Sends one request with a small answer. All writes to the API server use it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "k8s/client/api_client.h"

namespace firetower::k8s {

// The limit for an answer. Our objects are far smaller, and etcd accepts no larger ones.
inline constexpr size_t kMaxAnswerBytes = 2 << 20;

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";
inline constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";

struct ApiAnswer {
  int status = 0;
  std::string body;     // of a 2xx answer
  std::string message;  // of a refusal: the server's message
  int64_t retry_after_ns = 0;

  bool ok() const { return status >= 200 && status < 300; }
};

// Sends a request. Fails as ApiServer::Send does, and if there is no answer within 10 s.
Result<ApiAnswer> Call(ApiServer& server, const ApiRequest& request);

// Returns the message in a refusal: the Status object's, else the beginning of the first line.
std::string MessageOf(std::string_view refusal);

// Returns the metadata.resourceVersion of an answer's object; "" when it has none.
std::string ResourceVersionOf(std::string_view body);
// The same of its metadata.uid.
std::string UidOf(std::string_view body);

}  // namespace firetower::k8s
