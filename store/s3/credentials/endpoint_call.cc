// SPDX-License-Identifier: Apache-2.0
#include "store/s3/credentials/endpoint_call.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/clock.h"
#include "store/access/limited_store.h"
#include "store/s3/http/pause.h"
#include "store/s3/http/retry.h"

namespace firetower::store::s3 {

Result<net::HttpResponse> CallEndpoint(net::HttpClient& transport,
                                       const net::ClientRequest& request,
                                       const CallLimits& limits) {
  constexpr int kTries = 3;
  constexpr int64_t kWaitNs = kNsPerSecond / 2;
  constexpr int64_t kInAllNs = 10 * kNsPerSecond;
  CallLimits own = limits;
  own.deadline_ns = std::min(own.deadline_ns, Clock::System().MonotonicNs() + kInAllNs);
  for (int i = 1;; ++i) {
    Result<net::HttpResponse> response = transport.Send(request, own);
    // Only a file's error has an errno: it is how one tells them apart.
    if (!response) response = Error(response.error().code(), response.error().message());
    const bool again = response ? IsRetryable(response->status, "")
                                : response.error().code() == ErrorCode::kUnavailable;
    if (!again) return response;
    if (i == kTries || !CheckLimits(own)) {
      if (!response) return response;
      return Error(ErrorCode::kUnavailable, fmt::format("it answers {}", response->status));
    }
    Pause::System().For(kWaitNs, own);
  }
}

}  // namespace firetower::store::s3
