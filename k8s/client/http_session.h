// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "k8s/client/api_client.h"
#include "k8s/client/byte_stream.h"

namespace firetower::k8s {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// HTTP/1.1 over one stream of bytes, one exchange after another: heads, chunks and gzip are
// httplib's, deadlines and what is below are the stream's. Belongs to one thread.
class HttpSession {
 public:
  // `host` and `port` are for the Host header. A reply's head may take `head_timeout_ns`, the
  // pieces of its body what the sink says.
  HttpSession(const std::string& host, uint16_t port, std::unique_ptr<ByteStream> stream,
              int64_t head_timeout_ns);
  ~HttpSession();
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  // Errors as of ApiServer::Send; headers of HTTP itself are added.
  Result<ApiReply> Send(const ApiRequest& request, const HttpHeaders& headers, BodySink& sink);

  // Whether the stream may carry another request.
  bool reusable() const;
  // Whether the peer sent any byte of the last reply.
  bool answered() const;
  // Returns a header of the last reply; "" when it has none of that name.
  std::string Header(std::string_view name) const;

 private:
  class Client;
  std::unique_ptr<Client> client_;
};

}  // namespace firetower::k8s
