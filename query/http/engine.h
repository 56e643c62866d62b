// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "query/http/message.h"

namespace firetower::query {

// One framed request in, the bytes of its response out: the only place that knows cpp-httplib,
// which parses the head, compresses text when asked and writes the response. No I/O. Owned by one
// worker thread; never throws.
class HttpEngine {
 public:
  struct Reply {
    std::string bytes;
    bool close = false;  // the connection must not be used again
    int status = 0;
    std::string_view route;
  };

  // `handler` outlives the engine.
  explicit HttpEngine(const HttpHandler& handler);
  ~HttpEngine();

  // `last`: say "Connection: close". `gone`: HttpRequest::gone.
  Reply Serve(std::string_view request, const std::string& remote_address, bool last,
              std::stop_token gone = {}) noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// A complete response that refuses what could not even be framed; the connection closes after it.
std::string RefusalBytes(int status, std::string_view message);

}  // namespace firetower::query
