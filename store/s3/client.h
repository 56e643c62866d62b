// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "net/client/http_client.h"
#include "store/s3/config.h"
#include "store/s3/credentials/cached.h"
#include "store/s3/http/pause.h"
#include "store/s3/http/retry.h"
#include "store/s3/refusal.h"
#include "store/s3/sign/sigv4.h"
#include "store/s3/sign/uri.h"

namespace firetower::store::s3 {

// One operation of S3's REST interface.
struct Call {
  std::string method = "GET";
  std::string key = {};  // below the store's prefix; "" with `on_bucket`
  bool on_bucket = false;
  std::vector<QueryParameter> query = {};
  net::NamedValues headers = {};
  net::HttpBody body = {};
  bool body_is_object = false;  // or a part of one: a checksum may be asked for
  uint64_t max_response_bytes = 64 << 10;
  uint64_t expected_bytes = 0;          // of the answer: time for them is granted
  int64_t stall_seconds = 0;            // 0: as configured
  std::vector<int> also_accepted = {};  // statuses besides 2xx that are answers
  // The answer is XML. A server may say 200 and report an error in the body.
  bool answers_xml = false;
};

struct ClientCounts {
  uint64_t requests = 0;  // sent, tries after the first among them
  uint64_t retries = 0;
  uint64_t sent_bytes = 0;      // of bodies
  uint64_t received_bytes = 0;  // likewise
};

// Sends signed requests to one bucket. It learns from answers, for later calls, the bucket's
// region, the correct time if this machine's clock is wrong, and whether the bucket requires
// checksums. Thread-safe.
class Client {
 public:
  struct Parts {
    Config config = {};
    std::unique_ptr<net::HttpClient> transport = {};
    std::unique_ptr<CredentialsSource> credentials = {};
    const Clock* clock = &Clock::System();
    Pause* pause = &Pause::System();
    RetryPolicy retry = {};
    uint64_t seed = 0;  // of the jitter
  };
  explicit Client(Parts parts);

  // An answer with 2xx or an accepted status. Tries again what may go through (RetryPolicy, a
  // RetryBudget, Retry-After) until the call's time is up: the configured seconds, and what its
  // bytes take at kSlowBytesPerSecond. A refused signature or right is never tried again, but once
  // with new credentials when the old ones had expired.
  Result<net::HttpResponse> Send(const Call& call, const CallLimits& limits);
  static constexpr uint64_t kSlowBytesPerSecond = 64 << 10;

  // Turns the response of a call into an error.
  Error ToError(const Call& call, const net::HttpResponse& response) const;
  Error ToError(const Call& call, const Refusal& refusal) const;

  const Config& config() const { return config_; }
  const Clock& clock() const { return clock_; }
  ClientCounts counts() const;
  // The server's clock minus ours (SmallestSkew), from the last answer of the past ten minutes; 0
  // without one. It is kept for every answer, also if requests carry this machine's time.
  int64_t server_skew_ns() const;

 private:
  // State of a call over its attempts.
  struct Progress {
    int attempts = 0;
    int lessons = 0;  // tries that follow something learned
    bool refreshed = false;
    std::string body_sha256 = {};
    std::string region = {};  // of the last try
    bool sent_checksum = false;
    std::shared_ptr<const Credentials> credentials = {};
  };

  std::string Name(const Call& call) const;
  std::string FullKey(const Call& call) const;
  Result<net::HttpResponse> Try(const Call& call, const CallLimits& limits, Progress* progress);
  Result<net::ClientRequest> SignedRequest(const Call& call, Progress* progress);
  Status AddChecksum(const Call& call, Progress* progress, net::NamedValues* headers) const;
  // Whether the answer told something with which the same call is worth another try at once.
  bool Learn(const net::HttpResponse& response, const Refusal& refusal, Progress* progress);
  bool LearnRegion(const net::HttpResponse& response, const Refusal& refusal,
                   const Progress& progress);
  bool LearnTime(const net::HttpResponse& response);
  // OK after a pause when there shall be another try; `failed` otherwise.
  Status BeforeRetry(const Error& failed, std::string_view retry_after, const CallLimits& limits,
                     Progress* progress);
  std::string Region() const;

  const Config config_;
  const std::unique_ptr<net::HttpClient> transport_;
  CachedCredentials credentials_;
  const Clock& clock_;
  Pause& pause_;
  const RetryPolicy retry_;
  RetryBudget budget_;
  mutable std::mutex region_mutex_;  // a mutex: calls of all threads read it, one may learn it
  std::string region_;
  Signer signer_;
  std::atomic<int64_t> skew_ns_ = 0;  // added to this machine's time in requests
  std::atomic<int64_t> server_skew_ns_ = 0;
  std::atomic<int64_t> skew_known_at_ns_ = 0;  // monotonic
  std::atomic<bool> needs_checksum_ = false;
  std::atomic<uint64_t> requests_ = 0;
  std::atomic<uint64_t> retries_ = 0;
  std::atomic<uint64_t> sent_bytes_ = 0;
  std::atomic<uint64_t> received_bytes_ = 0;
};

}  // namespace firetower::store::s3
