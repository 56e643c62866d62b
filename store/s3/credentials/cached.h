// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "store/s3/credentials/credentials.h"

namespace firetower::store::s3 {

// The credentials of one source, fetched again before they expire. At most one thread fetches; the
// others use the current ones while they are valid, or wait. Thread-safe.
class CachedCredentials {
 public:
  CachedCredentials(std::unique_ptr<CredentialsSource> source, const Clock& clock)
      : source_(std::move(source)), clock_(clock) {}

  // The source's error when there are none that are still good, kPermission where it has none at
  // all. While there are, a source that fails is asked again a minute later.
  Result<std::shared_ptr<const Credentials>> Get(const CallLimits& limits);
  // A server said that `refused` have expired: the next Get fetches, unless others came meanwhile.
  void Expired(const std::shared_ptr<const Credentials>& refused);

  std::string Describe() const { return source_->Describe(); }

 private:
  bool NeedsFetch() const;
  bool Usable() const;
  Result<std::shared_ptr<const Credentials>> Fetch(std::unique_lock<std::mutex>& lock,
                                                   const CallLimits& limits);

  const std::unique_ptr<CredentialsSource> source_;
  const Clock& clock_;
  std::mutex mutex_;  // a mutex: any thread that sends asks for credentials
  std::condition_variable_any fetched_;
  bool fetching_ = false;
  uint64_t fetches_ = 0;
  std::optional<Error> last_error_;  // of the last fetch
  std::shared_ptr<const Credentials> current_;
  int64_t fetch_after_ns_ = 0;  // wall clock
  int64_t usable_until_ns_ = 0;
};

}  // namespace firetower::store::s3
