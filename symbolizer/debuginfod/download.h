// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "net/client/http_client.h"

namespace firetower::symbolizer {

// Writes the body of GET `url` to `fd`. kNotFound: the server has no such file. kExhausted: it is
// longer than `max_bytes`. kUnavailable: no answer, a broken or late one, or another status.
Status Download(net::HttpClient& client, const std::string& url, int fd, uint64_t max_bytes,
                int64_t timeout_ns);

}  // namespace firetower::symbolizer
