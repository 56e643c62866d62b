// SPDX-License-Identifier: Apache-2.0
#include "query/http/router.h"

#include <fmt/core.h>

#include "query/http/errors.h"

namespace firetower::query {

net::HttpResponse Router::Serve(const net::HttpRequest& request) const {
  for (const Route& route : routes_) {
    if (route.path != request.path) continue;
    net::HttpResponse response;
    const std::string_view allowed = route.takes_post ? "GET, HEAD, POST" : "GET, HEAD";
    if (request.method == "GET" || request.method == "HEAD" ||
        (route.takes_post && request.method == "POST")) {
      response = route.handler(request);
    } else {
      response =
          JsonError(405, fmt::format("{} accepts {}, not {}", route.path,
                                     route.takes_post ? "GET, HEAD and POST" : "GET and HEAD",
                                     request.method));
      response.headers.emplace_back("Allow", allowed);
    }
    response.route = route.path;
    return response;
  }
  std::string paths;
  for (const Route& route : routes_) paths += fmt::format(" {}", route.path);
  return JsonError(404, fmt::format("no such path '{}'; there are:{}", request.path, paths));
}

std::string_view Router::RouteOf(std::string_view path) const {
  for (const Route& route : routes_) {
    if (route.path == path) return route.path;
  }
  return "";
}

std::string Router::Index() const {
  std::string out;
  for (const Route& route : routes_) out += fmt::format("{:<18} {}\n", route.path, route.summary);
  return out;
}

}  // namespace firetower::query
