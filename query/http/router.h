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
  bool takes_post = false;
};

// Routes GET and HEAD by path, and POST where the route takes it. Other methods get 405; unknown
// paths get a 404 that lists the known ones. Immutable.
class Router {
 public:
  explicit Router(std::vector<Route> routes) : routes_(std::move(routes)) {}
  net::HttpResponse Serve(const net::HttpRequest& request) const;
  // Returns the route of that path for HttpResponse::route; "" for none.
  std::string_view RouteOf(std::string_view path) const;
  // Returns a line "PATH  SUMMARY" for each route.
  std::string Index() const;

 private:
  std::vector<Route> routes_;
};

}  // namespace firetower::query
