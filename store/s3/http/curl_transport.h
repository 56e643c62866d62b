// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/s3/http/http.h"

namespace firetower::store::s3 {

struct TransportOptions {
  std::string ca_file = {};  // PEM; empty: the system's
  // "": as the environment says (https_proxy, no_proxy …); "none"; or a proxy's URL.
  std::string proxy = {};
  int64_t connect_timeout_seconds = 5;
  // A transfer of less than kStallBytesPerSecond for so long ends.
  int64_t stall_seconds = 20;
};

inline constexpr int64_t kStallBytesPerSecond = 512;

// HTTP/1.1 by libcurl. Each thread that sends takes a handle with its connections from a pool and
// gives it back, so that connections are kept alive; at most kMaxIdle of them lie idle.
class CurlTransport final : public HttpTransport {
 public:
  static constexpr size_t kMaxIdle = 8;

  // kInvalid when the CA file cannot be read.
  static Result<std::unique_ptr<CurlTransport>> Create(TransportOptions options);
  ~CurlTransport() override;

  Result<HttpResponse> Send(const HttpRequest& request, const CallLimits& limits) override;

 private:
  class Handle;

  explicit CurlTransport(TransportOptions options);
  std::unique_ptr<Handle> Take();
  void GiveBack(std::unique_ptr<Handle> handle);

  const TransportOptions options_;
  std::mutex mutex_;  // a mutex, since any thread may send; held for a push or a pop only
  std::vector<std::unique_ptr<Handle>> idle_;
};

}  // namespace firetower::store::s3
