// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/failure.h"
#include "cli/term/progress.h"
#include "net/message.h"

namespace firetower::cli {

// More than any merged profile the server builds; keeps a wrong address from filling memory.
inline constexpr size_t kMaxReplyBytes = size_t{512} << 20;

// A way to a server's HTTP API. Keeps its connection for the next request where the server lets it.
// Belongs to one thread.
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  // One GET of `target`, a path and query, percent-encoded. An answer of any status is a value,
  // a refusal's perhaps with the beginning of its body only; a server that cannot be reached, and
  // one that says too much, are Failures. `progress`, if any, learns of the body's bytes as they
  // come.
  virtual Outcome<net::HttpResponse> Get(const std::string& target, Progress* progress) = 0;
  // How messages call the server: "http://127.0.0.1:7070".
  virtual std::string name() const = 0;
  // The URL of the server's page for a browser on this machine; "" if there is none.
  virtual std::string page_url() const = 0;
};

// Returns the Failure for a server that was reached but took longer than --timeout.
Failure TooSlow(std::string_view server, int64_t timeout_ns);

// Returns the Failure for a body longer than `max_bytes`.
Failure TooLarge(size_t max_bytes);

}  // namespace firetower::cli
