// SPDX-License-Identifier: Apache-2.0
#include "query/http/errors.h"

#include <fmt/core.h>

#include "base/json.h"

namespace firetower::query {
namespace {

std::string_view CodeOfStatus(int status) {
  switch (status) {
    case 401:
      return "unauthenticated";
    case 403:
    case 421:
      return "permission_denied";
    case 404:
      return "not_found";
    case 405:
    case 501:
      return "unimplemented";
    case 408:
    case 504:
      return "deadline_exceeded";
    case 413:
    case 429:
    case 431:
      return "resource_exhausted";
    case 422:
      return "failed_precondition";
    case 503:
      return "unavailable";
    default:
      return status >= 500 ? "internal" : "invalid_argument";
  }
}

net::HttpResponse Coded(int status, std::string_view code, std::string_view message) {
  net::HttpResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.body =
      fmt::format("{{\"code\":\"{}\",\"message\":\"{}\"}}\n", code, JsonEscape(message));
  return response;
}

}  // namespace

net::HttpResponse JsonError(int status, std::string_view message) {
  return Coded(status, CodeOfStatus(status), message);
}

net::HttpResponse NoStoreError(std::string_view message) {
  return Coded(404, kNoStoreCode, message);
}

}  // namespace firetower::query
