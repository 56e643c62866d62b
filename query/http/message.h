// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firetower::query {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

// One request as a handler sees it.
struct HttpRequest {
  std::string method;
  std::string path;    // decoded, starts with '/'
  NamedValues params;  // the query, decoded, in the order sent, repeated keys kept
  std::string accept;  // the Accept header, "" when absent
  std::string authorization;
  std::string remote_address;
  std::string body = {};  // as sent; of GET and HEAD none
  // Headers of what has a body, "" when absent.
  std::string content_type = {};
  std::string content_encoding = {};
  std::string accept_encoding = {};
  std::string connect_version = {};  // Connect-Protocol-Version
  std::string host = {};             // the Host header: by which name it was asked
  // Requested once nobody waits for the answer: who asked has gone, or the server ends.
  std::stop_token gone = {};
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  NamedValues headers;
  // The path pattern that answered, for metrics: a string literal, "" when no route fits.
  std::string_view route;
};

// Called from several threads at once. What it throws becomes a 500.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

// {"code": …, "message": …}: the body of every error but the pprof ones. `code` is Connect's word
// for the status, which is what Grafana's and Pyroscope's clients read.
HttpResponse JsonError(int status, std::string_view message);

// What a hub without a store says to questions about profiles: 404, with this `code`, which no
// other 404 has. So who asked can tell it from a server that is none of ours.
inline constexpr std::string_view kNoStoreCode = "unimplemented";
HttpResponse NoStoreError(std::string_view message);

}  // namespace firetower::query
