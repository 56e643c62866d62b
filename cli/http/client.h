// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cli/failure.h"
#include "cli/http/transport.h"
#include "net/message.h"

namespace firetower::cli {

struct HttpReply {
  std::string body;
  int64_t skipped = 0;                    // X-Firetower-Skipped
  std::optional<double> max_hidden = {};  // X-Firetower-Max-Hidden
  double observed_seconds = 0;            // X-Firetower-Observed-Seconds
};

struct HttpClientOptions {
  bool verbose = false;  // each request is written to standard error
  bool quiet = false;    // a wait is not told of: the screen is somebody else's
};

// Questions to a server's API. A status other than 200 becomes the Failure that tells a person what
// to do; so does a server that cannot be reached.
class HttpClient {
 public:
  HttpClient(std::unique_ptr<HttpTransport> transport, const HttpClientOptions& options)
      : transport_(std::move(transport)), options_(options) {}

  Outcome<HttpReply> Get(std::string_view path, const net::NamedValues& params) const;

  // See HttpTransport.
  std::string name() const { return transport_->name(); }
  std::string page_url() const { return transport_->page_url(); }

 private:
  std::unique_ptr<HttpTransport> transport_;
  HttpClientOptions options_;
};

}  // namespace firetower::cli
