// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/failure.h"
#include "query/http/message.h"

namespace firetower::cli {

struct ServerUrl {
  std::string host;  // without brackets
  uint16_t port = 7070;
  std::string path;  // prefix of every path, without a slash at the end
  std::string text;  // as given, for messages
};

// "http://host[:port][/prefix]". kUnsupported for https: nothing serves it yet.
Result<ServerUrl> ParseServerUrl(std::string_view text);

struct HttpReply {
  std::string body;
  int64_t skipped = 0;  // X-Firetower-Skipped
};

// One GET to the server's API. A status other than 200 becomes the Failure that tells a person what
// to do; so does a server that cannot be reached.
class HttpClient {
 public:
  HttpClient(ServerUrl server, int64_t timeout_ns, bool verbose)
      : server_(std::move(server)), timeout_ns_(timeout_ns), verbose_(verbose) {}

  Outcome<HttpReply> Get(std::string_view path, const query::NamedValues& params) const;
  const ServerUrl& server() const { return server_; }
  int64_t timeout_ns() const { return timeout_ns_; }

 private:
  ServerUrl server_;
  int64_t timeout_ns_;
  bool verbose_;
};

}  // namespace firetower::cli
