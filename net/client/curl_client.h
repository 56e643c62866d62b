// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "net/client/http_client.h"

namespace firetower::net {

// HTTP/1.1 by libcurl. Each thread that sends takes a handle with its connections from a pool and
// gives it back, so that connections are kept alive; at most kMaxIdle of them lie idle. The program
// ignores SIGPIPE.
class CurlClient final : public HttpClient {
 public:
  static constexpr size_t kMaxIdle = 8;

  // kInvalid when a CA that the options name cannot be read.
  static Result<std::unique_ptr<CurlClient>> Create(ClientOptions options);
  // Without that check.
  explicit CurlClient(ClientOptions options = {});
  ~CurlClient() override;

  Result<HttpResponse> Send(const ClientRequest& request, const CallLimits& limits) override;

 private:
  class Handle;

  std::unique_ptr<Handle> Take();
  void GiveBack(std::unique_ptr<Handle> handle);

  const ClientOptions options_;
  std::mutex mutex_;  // a mutex, since any thread may send; held for a push or a pop only
  std::vector<std::unique_ptr<Handle>> idle_;
};

}  // namespace firetower::net
