// SPDX-License-Identifier: Apache-2.0
// One HTTP exchange, as the S3 client, the credential sources and the daemon's pushing need it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/s3/http/body.h"
#include "store/store.h"

namespace firetower::store::s3 {

struct HttpHeader {
  std::string name = {};
  std::string value = {};
};

struct HttpRequest {
  std::string method = "GET";  // GET, HEAD, PUT, POST or DELETE
  std::string url = {};        // whole and encoded
  std::vector<HttpHeader> headers = {};
  HttpBody body = {};  // of PUT and POST
  uint64_t max_response_bytes = 64 << 10;
  bool link_local = false;    // the cloud's own addresses: never through a proxy
  int64_t stall_seconds = 0;  // 0: as the transport was told
};

struct HttpResponse {
  int status = 0;
  std::vector<HttpHeader> headers = {};  // names in lower case
  std::string body = {};

  bool ok() const { return status >= 200 && status < 300; }
  // The first value, "" for none. `name` in lower case.
  std::string_view Header(std::string_view name) const {
    for (const HttpHeader& header : headers) {
      if (header.name == name) return header.value;
    }
    return {};
  }
};

// May be used by several threads at once.
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;

  // The answer, whatever its status. Otherwise kUnavailable (not reached, broken off, too slow, or
  // over by `limits`), kExhausted (a 2xx answer's body above max_response_bytes), kPermission (a
  // certificate that is not trusted) or kInvalid (an address or file that cannot be used).
  virtual Result<HttpResponse> Send(const HttpRequest& request, const CallLimits& limits) = 0;
};

}  // namespace firetower::store::s3
