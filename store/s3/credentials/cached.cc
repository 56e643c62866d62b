// SPDX-License-Identifier: Apache-2.0
#include "store/s3/credentials/cached.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "store/access/limited_store.h"

namespace firetower::store::s3 {

bool CachedCredentials::NeedsFetch() const { return clock_.WallNs() >= fetch_after_ns_; }

bool CachedCredentials::Usable() const {
  return current_ != nullptr && clock_.WallNs() < usable_until_ns_;
}

Result<std::shared_ptr<const Credentials>> CachedCredentials::Get(const CallLimits& limits) {
  std::unique_lock lock(mutex_);
  const uint64_t fetches_before = fetches_;
  for (;;) {
    if (Usable() && (fetching_ || !NeedsFetch())) return current_;
    // Another thread's fetch failed: returns its error instead of trying again in each thread.
    if (fetches_ != fetches_before && last_error_) return *last_error_;
    if (!fetching_) return Fetch(lock, limits);
    RETURN_IF_ERROR(CheckLimits(limits, clock_).Context("credentials"));
    // In steps: a deadline may pass meanwhile.
    constexpr std::chrono::milliseconds kStep(100);
    fetched_.wait_for(lock, limits.stop, kStep, [&] { return !fetching_; });
  }
}

Result<std::shared_ptr<const Credentials>> CachedCredentials::Fetch(
    std::unique_lock<std::mutex>& lock, const CallLimits& limits) {
  fetching_ = true;
  lock.unlock();
  Result<Credentials> fetched = source_->Fetch(limits);
  lock.lock();
  fetching_ = false;
  ++fetches_;
  fetched_.notify_all();
  const int64_t now_ns = clock_.WallNs();
  if (fetched) {
    last_error_.reset();
    current_ = std::make_shared<const Credentials>(*std::move(fetched));
    fetch_after_ns_ = current_->refresh_ns;
    // A source that hands out expired keys means them to be used: the instance metadata service
    // does so when it cannot reach its own issuer.
    usable_until_ns_ = std::max(current_->expires_ns, now_ns + kRefreshAgainNs);
    return current_;
  }
  const Error& failed = fetched.error();
  // A caller that asks for an object would take kNotFound for a missing object.
  const ErrorCode code =
      failed.code() == ErrorCode::kNotFound ? ErrorCode::kPermission : failed.code();
  Error error(code, failed.message(), failed.sys_errno());
  error.Context("credentials of " + source_->Describe());
  // Other threads do not get this error: each of them tries itself.
  if (!CheckLimits(limits, clock_) && !Usable()) {
    last_error_.reset();
    return error;
  }
  const bool failed_before = last_error_.has_value();
  last_error_ = error;
  if (!Usable()) return error;
  fetch_after_ns_ = now_ns + kRefreshAgainNs;
  if (!failed_before) {
    LOG(kWarn, "S3 credentials cannot be renewed yet; the old ones are still used",
        {{"error", error.message()}});
  }
  return current_;
}

void CachedCredentials::Expired(const std::shared_ptr<const Credentials>& refused) {
  const std::lock_guard lock(mutex_);
  if (current_ != refused) return;
  fetch_after_ns_ = 0;
  usable_until_ns_ = 0;
}

}  // namespace firetower::store::s3
