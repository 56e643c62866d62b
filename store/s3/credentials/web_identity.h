// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "net/client/http_client.h"
#include "store/s3/credentials/credentials.h"

namespace firetower::store::s3 {

struct WebIdentity {
  std::string role_arn = {};
  std::string token_file = {};  // read at each call: the kubelet replaces it
  std::string session_name = "firetower";
  std::string sts_endpoint = {};  // "https://sts.eu-west-1.amazonaws.com"
};

// STS AssumeRoleWithWebIdentity: what EKS calls IAM roles for service accounts. `transport` and
// `clock` outlive it.
std::unique_ptr<CredentialsSource> WebIdentitySource(WebIdentity identity,
                                                     net::HttpClient& transport,
                                                     const Clock& clock);

// AWS's own endpoint for a region, "" for the global one.
std::string StsEndpoint(const std::string& region);

}  // namespace firetower::store::s3
