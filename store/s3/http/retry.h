// SPDX-License-Identifier: Apache-2.0
// When a request is tried again, and how long to wait before.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <string_view>

#include "base/clock.h"

namespace firetower::store::s3 {

struct RetryPolicy {
  int max_attempts = 8;
  int64_t first_delay_ns = 100 * kNsPerMs;  // doubles with each try
  int64_t max_delay_ns = 20 * kNsPerSecond;
};

// Exponential backoff with full jitter: evenly from 0 to the smaller of the cap and the first delay
// times 2^(attempt - 1). `random` is in [0, 1).
int64_t BackoffNs(const RetryPolicy& policy, int attempt, double random);

// Parses Retry-After (RFC 9110 §10.2.3), seconds or a date; nothing when it is neither. A past date
// gives 0.
std::optional<int64_t> ParseRetryAfterNs(std::string_view value, int64_t wall_ns);

// Statuses and error codes of S3 after which the same request may go through.
bool IsRetryable(int status, std::string_view s3_code);

// A client's allowance for tries beyond the first, so that many callers together do not bury a
// server that is down: each costs kCost, each success gives kGain back, and when it is used up
// calls fail at their first error. Thread-safe.
class RetryBudget {
 public:
  static constexpr int kCapacity = 500;
  static constexpr int kCost = 5;
  static constexpr int kGain = 1;

  explicit RetryBudget(uint64_t seed) : random_(seed) {}

  bool TakeForRetry();
  void Succeeded();
  int left() const;
  double Random();  // [0, 1)

 private:
  mutable std::mutex mutex_;  // a mutex: any thread that sends comes here, for a few instructions
  int left_ = kCapacity;
  std::mt19937_64 random_;
};

}  // namespace firetower::store::s3
