// SPDX-License-Identifier: Apache-2.0
#include "store/s3/client.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/log.h"
#include "store/access/limited_store.h"
#include "store/s3/endpoint.h"
#include "store/s3/http/date.h"
#include "store/s3/sign/digest.h"
#include "store/s3/sign/sigv4.h"

namespace firetower::store::s3 {
namespace {

constexpr int kMaxLessons = 4;  // region, time, credentials, checksum

bool SaysExpired(const Refusal& refusal) {
  return refusal.Is("ExpiredToken") || refusal.Is("ExpiredTokenException") ||
         refusal.Is("TokenRefreshRequired");
}

// An Object Lock bucket, and some older servers: "Missing required header … Content-MD5".
bool WantsChecksum(const Refusal& refusal) {
  if (!refusal.Is("InvalidRequest") && !refusal.Is("MissingContentMD5")) return false;
  return refusal.body.message.find("Content-MD5") != std::string::npos ||
         refusal.body.message.find("x-amz-checksum") != std::string::npos;
}

}  // namespace

Client::Client(Parts parts)
    : config_(std::move(parts.config)),
      transport_(std::move(parts.transport)),
      credentials_(std::move(parts.credentials), *parts.clock),
      clock_(*parts.clock),
      pause_(*parts.pause),
      retry_(parts.retry),
      budget_(parts.seed),
      region_(config_.region.empty() ? std::string(kFirstRegion) : config_.region) {}

std::string Client::Region() const {
  const std::lock_guard lock(region_mutex_);
  return region_;
}

std::string Client::FullKey(const Call& call) const {
  return call.on_bucket ? "" : config_.prefix + call.key;
}

std::string Client::Name(const Call& call) const {
  return fmt::format("s3://{}/{}: {}", config_.bucket, FullKey(call), call.method);
}

ClientCounts Client::counts() const {
  return {.requests = requests_,
          .retries = retries_,
          .sent_bytes = sent_bytes_,
          .received_bytes = received_bytes_};
}

Error Client::ToError(const Call& call, const net::HttpResponse& response) const {
  return ToError(call, RefusalOf(response));
}

Error Client::ToError(const Call& call, const Refusal& refusal) const {
  return refusal.ToError(Name(call), credentials_.Describe());
}

Result<net::HttpResponse> Client::Send(const Call& call, const CallLimits& limits) {
  const uint64_t bytes = call.body.size() + call.expected_bytes;
  const int64_t seconds =
      config_.timeout_seconds + static_cast<int64_t>(bytes / kSlowBytesPerSecond);
  CallLimits own = limits;
  own.deadline_ns = std::min(own.deadline_ns, clock_.MonotonicNs() + seconds * kNsPerSecond);
  Progress progress;
  ASSIGN_OR_RETURN(progress.body_sha256, BodySha256Hex(call.body).Context(Name(call)));
  for (;;) {
    Result<net::HttpResponse> response = Try(call, own, &progress);
    if (!response) {
      if (response.error().code() != ErrorCode::kUnavailable || !CheckLimits(own, clock_)) {
        return response;
      }
      RETURN_IF_ERROR(BeforeRetry(response.error(), "", own, &progress));
      continue;
    }
    const bool late_error = response->ok() && call.answers_xml && IsErrorBody(response->body);
    if (response->ok() && !late_error) {
      budget_.Succeeded();
      return response;
    }
    HideSecrets({progress.credentials->secret_access_key, progress.credentials->session_token},
                &response->body);
    const Refusal refusal = RefusalOf(*response);
    if (progress.lessons < kMaxLessons && Learn(*response, refusal, &progress)) {
      ++progress.lessons;
      continue;
    }
    const bool accepted =
        std::ranges::find(call.also_accepted, refusal.status) != call.also_accepted.end();
    if (accepted && !refusal.IsRetryable()) return response;
    const Error error = refusal.ToError(Name(call), credentials_.Describe());
    if (!refusal.IsRetryable()) return error;
    RETURN_IF_ERROR(BeforeRetry(error, response->Header("retry-after"), own, &progress));
  }
}

Result<net::HttpResponse> Client::Try(const Call& call, const CallLimits& limits,
                                      Progress* progress) {
  ++progress->attempts;
  ASSIGN_OR_RETURN(progress->credentials, credentials_.Get(limits).Context(Name(call)));
  ASSIGN_OR_RETURN(const net::ClientRequest request,
                   SignedRequest(call, progress).Context(Name(call)));
  ++requests_;
  sent_bytes_ += call.body.size();
  const int64_t sent_ns = clock_.WallNs();
  Result<net::HttpResponse> response = transport_->Send(request, limits);
  if (response) {
    received_bytes_ += response->body.size();
    const std::optional<int64_t> server_s = ParseHttpDate(response->Header("date"));
    if (server_s) {
      server_skew_ns_ = SmallestSkew(*server_s, sent_ns, clock_.WallNs());
      skew_known_at_ns_ = clock_.MonotonicNs();
    }
  }
  if (response) return response;
  // Only a file's error has an errno: it is how one tells them apart.
  return Error(response.error().code(),
               fmt::format("{}: {}", Name(call), response.error().message()));
}

int64_t Client::server_skew_ns() const {
  constexpr int64_t kKeptNs = 600 * kNsPerSecond;
  return clock_.MonotonicNs() - skew_known_at_ns_ < kKeptNs ? server_skew_ns_.load() : 0;
}

Result<net::ClientRequest> Client::SignedRequest(const Call& call, Progress* progress) {
  progress->region = Region();
  const Target target = TargetOf(config_, progress->region, FullKey(call));
  const Credentials& credentials = *progress->credentials;
  const std::string date = AmzDate((clock_.WallNs() + skew_ns_) / kNsPerSecond);
  net::ClientRequest request{.method = call.method,
                             .url = target.Url(),
                             .headers = call.headers,
                             .body = call.body,
                             .max_response_bytes = call.max_response_bytes,
                             .stall_seconds = call.stall_seconds};
  if (!call.query.empty()) request.url += '?' + CanonicalQuery(call.query);
  request.headers.push_back({"Host", target.host});
  request.headers.push_back({"x-amz-content-sha256", progress->body_sha256});
  request.headers.push_back({"x-amz-date", date});
  if (!credentials.session_token.empty()) {
    request.headers.push_back({"x-amz-security-token", credentials.session_token});
  }
  RETURN_IF_ERROR(AddChecksum(call, progress, &request.headers));
  const SigningRequest signing{.method = call.method,
                               .encoded_path = target.encoded_path,
                               .query = call.query,
                               .headers = request.headers,
                               .payload_sha256 = progress->body_sha256};
  const SigningKey key{.access_key_id = credentials.access_key_id,
                       .secret_access_key = credentials.secret_access_key,
                       .region = progress->region};
  std::string authorization = signer_.Authorization(signing, key, date);
  request.headers.push_back({"Authorization", std::move(authorization)});
  return request;
}

Status Client::AddChecksum(const Call& call, Progress* progress, net::NamedValues* headers) const {
  if (!call.body_is_object) return OkStatus();
  const bool md5 = config_.checksum == Checksum::kMd5 ||
                   (config_.checksum == Checksum::kAuto && needs_checksum_);
  if (md5) {
    ASSIGN_OR_RETURN(std::string digest, BodyMd5Base64(call.body));
    headers->push_back({"Content-MD5", std::move(digest)});
  }
  if (config_.checksum == Checksum::kCrc32c) {
    ASSIGN_OR_RETURN(std::string crc, BodyCrc32cBase64(call.body));
    headers->push_back({"x-amz-checksum-crc32c", std::move(crc)});
  }
  progress->sent_checksum = md5 || config_.checksum == Checksum::kCrc32c;
  return OkStatus();
}

bool Client::Learn(const net::HttpResponse& response, const Refusal& refusal, Progress* progress) {
  if (LearnRegion(response, refusal, *progress)) return true;
  if (refusal.Is("RequestTimeTooSkewed")) return LearnTime(response);
  if (SaysExpired(refusal) && !progress->refreshed) {
    progress->refreshed = true;
    credentials_.Expired(progress->credentials);
    return true;
  }
  if (config_.checksum == Checksum::kAuto && !progress->sent_checksum && WantsChecksum(refusal)) {
    needs_checksum_ = true;
    return true;
  }
  return false;
}

// 301 and 307 come with the region in a header, 400 AuthorizationHeaderMalformed in its body.
bool Client::LearnRegion(const net::HttpResponse& response, const Refusal& refusal,
                         const Progress& progress) {
  const bool about_region = response.status == 301 || response.status == 307 ||
                            refusal.Is("AuthorizationHeaderMalformed") ||
                            (response.status == 400 && refusal.body.code.empty());
  if (!about_region) return false;
  std::string region(response.Header("x-amz-bucket-region"));
  if (region.empty()) region = refusal.body.region;
  const bool name =
      !region.empty() && region.size() <= 64 && std::ranges::all_of(region, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      });
  if (!name || region == progress.region) return false;
  LOG(kInfo, "the bucket is in another region", {{"bucket", config_.bucket}, {"region", region}});
  const std::lock_guard lock(region_mutex_);
  region_ = region;
  return true;
}

bool Client::LearnTime(const net::HttpResponse& response) {
  constexpr int64_t kSmallNs = 60 * kNsPerSecond;
  const std::optional<int64_t> server_s = ParseHttpDate(response.Header("date"));
  if (!server_s) return false;
  const int64_t skew_ns = *server_s * kNsPerSecond - clock_.WallNs();
  // With the time corrected, the same answer is about something else.
  if (std::abs(skew_ns - skew_ns_) < kSmallNs) return false;
  LOG(kWarn, "this machine's clock is wrong for the S3 server; requests use its time",
      {{"seconds", skew_ns / kNsPerSecond}});
  skew_ns_ = skew_ns;
  return true;
}

Status Client::BeforeRetry(const Error& failed, std::string_view retry_after,
                           const CallLimits& limits, Progress* progress) {
  if (progress->attempts >= retry_.max_attempts) {
    return Error(failed.code(),
                 fmt::format("{} (after {} tries)", failed.message(), progress->attempts));
  }
  if (!budget_.TakeForRetry()) {
    return Error(failed.code(),
                 failed.message() + " (not tried again: too much has failed lately)");
  }
  int64_t wait_ns = BackoffNs(retry_, progress->attempts, budget_.Random());
  if (const auto delay_ns = ParseRetryAfterNs(retry_after, clock_.WallNs())) wait_ns += *delay_ns;
  if (clock_.MonotonicNs() + wait_ns >= limits.deadline_ns) {
    return Error(failed.code(), fmt::format("{} (after {} tries; no time is left for another)",
                                            failed.message(), progress->attempts));
  }
  pause_.For(wait_ns, limits);
  ++retries_;
  return CheckLimits(limits, clock_).Context(failed.message());
}

}  // namespace firetower::store::s3
