// SPDX-License-Identifier: Apache-2.0
#include "net/message.h"

namespace firetower::net {

std::string_view HttpResponse::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

HttpResponse PlainError(int status, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.body = std::string(message) + "\n";
  return response;
}

}  // namespace firetower::net
