// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "net/client/http_client.h"
#include "store/s3/credentials/credentials.h"

namespace firetower::store::s3 {

struct ContainerEndpoint {
  std::string url = {};
  std::string token_file = {};  // read at each call; before `token`
  std::string token = {};
};

// The container credentials endpoint: EKS Pod Identity and ECS.
std::unique_ptr<CredentialsSource> ContainerSource(ContainerEndpoint endpoint,
                                                   net::HttpClient& transport, const Clock& clock);

// Whether the token may be sent there: any host by https, and by http only this machine's loopback
// and the link-local addresses of ECS and EKS.
Status CheckContainerUrl(std::string_view url);

}  // namespace firetower::store::s3
