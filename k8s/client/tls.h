// SPDX-License-Identifier: Apache-2.0
// The parts of OpenSSL that a connection needs, without its types.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "k8s/client/config.h"
#include "k8s/client/credentials.h"

extern "C" {
struct ssl_st;  // OpenSSL's SSL
}

namespace firetower::k8s {

// A client session on `fd`, not yet shaken: TLS 1.2 or later, chain and host checked by OpenSSL
// unless the configuration says to skip that. The caller frees it.
Result<ssl_st*> CreateTlsSession(const ClientConfig& config, const std::string& ca_pem,
                                 const Identity& identity, int fd);

// OpenSSL's reason for the last failure on this thread, "" when it has none; clears its queue.
std::string TakeTlsReason();

}  // namespace firetower::k8s
