// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "base/clock.h"
#include "daemon/push/protocol/protocol.h"
#include "store/s3/http/retry.h"

namespace firetower::daemon {
namespace {

// A server that asks for more has forgotten about us when it is over.
constexpr int64_t kMaxWaitNs = 300 * kNsPerSecond;
constexpr size_t kMaxReasonBytes = 200;

}  // namespace

std::string ReasonOf(std::string_view words) {
  std::string text(words.substr(0, kMaxReasonBytes));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, ' ');
  return text;
}

std::string DescribeRefusal(const net::HttpResponse& response) {
  const std::string text = ReasonOf(response.body);
  return fmt::format("it answers {}{}{}", response.status, text.empty() ? "" : ": ", text);
}

PushAnswer AskLater(const net::HttpResponse& response, int64_t wall_ns) {
  const int64_t asked_ns =
      store::s3::ParseRetryAfterNs(response.Header("retry-after"), wall_ns).value_or(0);
  return {.verdict = PushVerdict::kLater,
          .wait_ns = std::min(asked_ns, kMaxWaitNs),
          .reason = DescribeRefusal(response)};
}

}  // namespace firetower::daemon
