// SPDX-License-Identifier: Apache-2.0
#include "net/message.h"

namespace firetower::net {

HttpResponse PlainError(int status, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.body = std::string(message) + "\n";
  return response;
}

}  // namespace firetower::net
