// SPDX-License-Identifier: Apache-2.0
#include "daemon/outbox/refusal_log.h"

namespace firetower::daemon {

std::optional<uint64_t> RefusalLog::OnRefused(const Error& error) {
  const Kind kind{error.code(), error.sys_errno()};
  const int64_t now_ns = clock_.MonotonicNs();
  ++in_row_;
  ++unreported_;
  if (reported_ == kind && now_ns - reported_ns_ < kEveryNs) return std::nullopt;
  reported_ = kind;
  reported_ns_ = now_ns;
  return std::exchange(unreported_, 0);
}

std::optional<uint64_t> RefusalLog::OnTaken() {
  if (!reported_) return std::nullopt;
  reported_.reset();
  unreported_ = 0;
  return std::exchange(in_row_, 0);
}

}  // namespace firetower::daemon
