// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "net/message.h"

namespace firetower::query {

struct Route {
  std::string_view path;     // a literal; matched exactly
  std::string_view summary;  // one line, for the index and the 404
  net::HttpHandler handler;
};

// Sends GET and HEAD to the route of the path. Other methods get 405, unknown paths a 404 that
// names the known ones. Immutable.
class Router {
 public:
  explicit Router(std::vector<Route> routes) : routes_(std::move(routes)) {}
  net::HttpResponse Serve(const net::HttpRequest& request) const;
  // The route of that path, as a response has it; "" for none.
  std::string_view RouteOf(std::string_view path) const;
  // "PATH  SUMMARY" a line.
  std::string Index() const;

 private:
  std::vector<Route> routes_;
};

}  // namespace firetower::query
