// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/http/transport.h"

namespace firetower::cli {

struct ServerUrl {
  std::string host;  // without brackets
  uint16_t port = 7070;
  std::string path;  // prefix of every path, without a slash at the end
  std::string text;  // as given, for messages
};

// "http://host[:port][/prefix]". kUnsupported for https: nothing serves it yet.
Result<ServerUrl> ParseServerUrl(std::string_view text);

// To the server of a URL. `bearer_token` goes with each request, unless it is empty.
std::unique_ptr<HttpTransport> OpenDirect(ServerUrl server, int64_t timeout_ns,
                                          std::string bearer_token,
                                          size_t max_reply_bytes = kMaxReplyBytes);

}  // namespace firetower::cli
