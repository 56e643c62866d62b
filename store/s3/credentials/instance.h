// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "net/client/http_client.h"
#include "store/s3/credentials/credentials.h"

namespace firetower::store::s3 {

inline constexpr const char* kInstanceEndpoint = "http://169.254.169.254";

// The role of the EC2 instance, by version 2 of its metadata service. Version 1, which takes no
// token and so answers whoever can make a request be sent, is never asked.
std::unique_ptr<CredentialsSource> InstanceSource(std::string endpoint, net::HttpClient& transport,
                                                  const Clock& clock);

}  // namespace firetower::store::s3
