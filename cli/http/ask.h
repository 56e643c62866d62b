// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/term/progress.h"
#include "net/client/http_client.h"

namespace firetower::cli {

inline constexpr const char* kUserAgent = "firetower/" FIRETOWER_VERSION " (cli)";

struct HttpQuestion {
  std::string url = {};
  std::string bearer_token = {};
  int64_t timeout_ns = 0;  // of the head, and of each piece of the body
  size_t max_reply_bytes = 0;
  Progress* progress = nullptr;  // learns of the body's bytes as they come
};

struct HttpAnswer {
  Result<net::HttpResponse> response;
  bool too_large = false;  // the body passes max_reply_bytes
  bool begun = false;      // something of it came
};

// One GET. A refusal's body may be its beginning only.
HttpAnswer Ask(net::HttpClient& client, const HttpQuestion& question);

}  // namespace firetower::cli
