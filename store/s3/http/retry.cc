// SPDX-License-Identifier: Apache-2.0
#include "store/s3/http/retry.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "store/s3/http/date.h"

namespace firetower::store::s3 {

int64_t BackoffNs(const RetryPolicy& policy, int attempt, double random) {
  const int doublings = std::clamp(attempt - 1, 0, 30);
  const int64_t bound = std::min(policy.first_delay_ns << doublings, policy.max_delay_ns);
  return static_cast<int64_t>(static_cast<double>(bound) * random);
}

std::optional<int64_t> ParseRetryAfterNs(std::string_view value, int64_t wall_ns) {
  constexpr int64_t kMaxSeconds = 7 * 86'400;  // beyond that it is a mistake, and would overflow
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error == std::errc() && end == value.data() + value.size()) {
    if (seconds < 0) return std::nullopt;
    return std::min(seconds, kMaxSeconds) * kNsPerSecond;
  }
  const std::optional<int64_t> date_s = ParseHttpDate(value);
  if (!date_s) return std::nullopt;
  const int64_t wait_s = *date_s - wall_ns / kNsPerSecond;
  return std::clamp<int64_t>(wait_s, 0, kMaxSeconds) * kNsPerSecond;
}

bool IsRetryable(int status, std::string_view s3_code) {
  constexpr std::array kStatuses = {408, 429, 500, 502, 503, 504};
  constexpr std::array<std::string_view, 8> kCodes = {
      "InternalError", "OperationAborted",   "RequestTimeout", "RequestTimeoutException",
      "SlowDown",      "ServiceUnavailable", "Throttling",     "ThrottlingException"};
  return std::ranges::find(kStatuses, status) != kStatuses.end() ||
         std::ranges::find(kCodes, s3_code) != kCodes.end();
}

bool RetryBudget::TakeForRetry() {
  const std::lock_guard lock(mutex_);
  if (left_ < kCost) return false;
  left_ -= kCost;
  return true;
}

void RetryBudget::Succeeded() {
  const std::lock_guard lock(mutex_);
  left_ = std::min(left_ + kGain, kCapacity);
}

int RetryBudget::left() const {
  const std::lock_guard lock(mutex_);
  return left_;
}

double RetryBudget::Random() {
  const std::lock_guard lock(mutex_);
  return std::uniform_real_distribution<double>(0, 1)(random_);
}

}  // namespace firetower::store::s3
