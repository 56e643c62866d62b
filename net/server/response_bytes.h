// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "net/message.h"
#include "net/server/request_reader.h"

namespace firetower::net {

// A response as its peer gets it. The body is apart so that a large one is not copied.
struct ResponseBytes {
  std::string head;
  std::string body;
  bool close = false;  // the connection must not be used again
  size_t size() const { return head.size() + body.size(); }
};

// Encodes the answer to `request`; text is compressed by gzip for peers that accept it. `close`
// says that the connection ends.
ResponseBytes EncodeResponse(HttpResponse response, const ReadRequest& request, bool close);

}  // namespace firetower::net
