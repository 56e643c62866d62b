// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firetower::net {

using NamedValue = std::pair<std::string, std::string>;
using NamedValues = std::vector<NamedValue>;

// A request in the form that handlers get.
struct HttpRequest {
  std::string method;
  std::string path;    // decoded, starts with '/'
  NamedValues params;  // the query, decoded, in the order sent, repeated keys kept
  std::string accept;  // the Accept header, "" when absent
  std::string authorization;
  std::string remote_address;
  std::string body = {};  // as sent, without its chunks; "" for GET and HEAD
  // Headers of requests with a body, "" when absent and for GET and HEAD.
  std::string content_type = {};
  std::string content_encoding = {};
  std::string accept_encoding = {};
  std::string connect_version = {};  // Connect-Protocol-Version
  std::string host = {};             // the Host header
  // A stop is requested when the answer is not needed any more: the peer has closed, or the server
  // stops.
  std::stop_token gone = {};
};

// A response, as a handler gives it and as a client gets it.
struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  NamedValues headers = {};  // of a client's: all of them, with names in lower case
  std::string body = {};
  // The path pattern that answered, for metrics: a string literal, "" when no route fits.
  std::string_view route = {};

  bool ok() const { return status >= 200 && status < 300; }
  // The first value, "" for none. `name` in lower case.
  std::string_view Header(std::string_view name) const;
};

// Called from several threads at once. An exception becomes a 500.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

// Makes the response for an error. Escapes the text in its body.
using ErrorFormat = std::function<HttpResponse(int status, std::string_view message)>;

// Returns `message` as a line of plain text.
HttpResponse PlainError(int status, std::string_view message);

}  // namespace firetower::net
