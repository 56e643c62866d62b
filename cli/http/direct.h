// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/http/transport.h"
#include "net/url.h"

namespace firetower::cli {

struct ServerUrl : net::Url {
  std::string text;  // as given, for messages
};

// "http://host[:port][/prefix]", or https. Without a port 7070 for http and 443 for https.
Result<ServerUrl> ParseServerUrl(std::string_view text);

struct DirectOptions {
  int64_t timeout_ns = 0;
  std::string bearer_token = {};  // goes with each request, unless it is empty
  std::string ca_file = {};       // the only authorities trusted; the system's when empty
  size_t max_reply_bytes = kMaxReplyBytes;
};

// To the server of a URL: through a proxy where the environment names one, and never to this
// machine. An error is about the file of authorities.
Result<std::unique_ptr<HttpTransport>> OpenDirect(ServerUrl server, DirectOptions options);

}  // namespace firetower::cli
