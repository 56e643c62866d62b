// SPDX-License-Identifier: Apache-2.0
#include "store/s3/s3_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <random>
#include <utility>

#include "net/client/curl_client.h"
#include "store/key.h"
#include "store/s3/credentials/chain.h"
#include "store/s3/deletion.h"
#include "store/s3/listing.h"
#include "store/s3/multipart.h"

namespace firetower::store::s3 {
namespace {

// "bytes 0-9/100" (RFC 9110 §14.4) with a known size.
struct ContentRange {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t size = 0;
};

std::optional<ContentRange> ParseContentRange(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  const char* at = text.data() + kUnit.size();
  const char* const end = text.data() + text.size();
  ContentRange range;
  auto number = [&](uint64_t* value, char separator) {
    const auto [next, error] = std::from_chars(at, end, *value);
    if (error != std::errc() ||
        (separator == '\0' ? next != end : next == end || *next != separator)) {
      return false;
    }
    at = next + (separator == '\0' ? 0 : 1);
    return true;
  };
  const bool whole =
      number(&range.first, '-') && number(&range.last, '/') && number(&range.size, '\0');
  if (!whole || range.first > range.last || range.last >= range.size) return std::nullopt;
  return range;
}

Error IgnoresRanges(std::string_view key) {
  return {ErrorCode::kUnsupported, fmt::format("{}: the server, or a proxy, ignores Range", key)};
}

Error EndsBefore(std::string_view key, uint64_t offset, uint64_t length) {
  return {ErrorCode::kCorrupt,
          fmt::format("{}: the object ends before {} bytes at {}", key, length, offset)};
}

}  // namespace

struct S3Store::Shared {
  explicit Shared(Client::Parts parts)
      : client(std::move(parts)), listing(client), deletion(client) {}
  Client client;
  Listing listing;
  Deletion deletion;
};

S3Store::S3Store(Client::Parts parts) : shared_(std::make_shared<Shared>(std::move(parts))) {}
S3Store::S3Store(std::shared_ptr<Shared> shared, CallLimits limits)
    : shared_(std::move(shared)), limits_(std::move(limits)) {}
S3Store::~S3Store() = default;

Result<std::unique_ptr<S3Store>> S3Store::Open(std::string_view url,
                                               const Environment& environment) {
  Client::Parts parts;
  ASSIGN_OR_RETURN(parts.config, ParseUrl(url, environment));
  ASSIGN_OR_RETURN(parts.transport, net::CurlClient::Create(parts.config.transport));
  ASSIGN_OR_RETURN(parts.credentials, ChooseSource(parts.config.credentials, environment,
                                                   *parts.transport, *parts.clock));
  parts.seed = std::random_device()();
  return std::make_unique<S3Store>(std::move(parts));
}

std::unique_ptr<ObjectStore> S3Store::DoLimited(CallLimits limits) {
  return std::unique_ptr<ObjectStore>(new S3Store(shared_, std::move(limits)));
}

std::string S3Store::Describe() const {
  const Config& config = shared_->client.config();
  return fmt::format("s3://{}/{}{}{}", config.bucket, config.prefix,
                     config.endpoint.empty() ? "" : " at ", config.endpoint);
}

ClientCounts S3Store::counts() const { return shared_->client.counts(); }
int64_t S3Store::ClockSkewNs() const { return shared_->client.server_skew_ns(); }

Status S3Store::Put(std::string_view key, std::string_view bytes) { return PutBody(key, bytes); }

Status S3Store::PutFrom(std::string_view key, const ObjectSource& source) {
  // Digested and sent from one reading of the file, where that takes little memory.
  constexpr uint64_t kSmallBytes = 1 << 20;
  if (source.size() > kSmallBytes) return PutBody(key, net::HttpBody(source));
  std::string bytes(source.size(), '\0');
  RETURN_IF_ERROR(source.ReadAt(0, std::as_writable_bytes(std::span(bytes))));
  return PutBody(key, bytes);
}

Status S3Store::PutBody(std::string_view key, const net::HttpBody& body) {
  RETURN_IF_ERROR(CheckKey(key));
  if (body.size() > kMultipartAboveBytes) {
    return PutInParts(shared_->client, key, body, limits_);
  }
  const Call call{.method = "PUT",
                  .key = std::string(key),
                  .headers = WriteHeaders(shared_->client.config()),
                  .body = body,
                  .body_is_object = true};
  RETURN_IF_ERROR(shared_->client.Send(call, limits_));
  return OkStatus();
}

Result<std::string> S3Store::Get(std::string_view key, uint64_t max_bytes) const {
  RETURN_IF_ERROR(CheckKey(key));
  constexpr uint64_t kTimeForBytes = 64 << 20;  // the object's size is not known before
  const Call call{.key = std::string(key),
                  .max_response_bytes = max_bytes,
                  .expected_bytes = std::min(max_bytes, kTimeForBytes)};
  ASSIGN_OR_RETURN(net::HttpResponse response, shared_->client.Send(call, limits_));
  return std::move(response.body);
}

Result<std::string> S3Store::GetRange(std::string_view key, uint64_t offset,
                                      uint64_t length) const {
  RETURN_IF_ERROR(CheckKey(key));
  if (length == 0) {
    ASSIGN_OR_RETURN(const uint64_t size, Size(key));
    if (offset > size) return EndsBefore(key, offset, length);
    return std::string();
  }
  if (offset > UINT64_MAX - length) return EndsBefore(key, offset, length);
  const Call call{.key = std::string(key),
                  .headers = {{"Range", fmt::format("bytes={}-{}", offset, offset + length - 1)}},
                  .max_response_bytes = length,
                  .expected_bytes = length,
                  .also_accepted = {416}};
  Result<net::HttpResponse> response = shared_->client.Send(call, limits_);
  if (!response) {
    if (response.error().code() == ErrorCode::kExhausted) return IgnoresRanges(key);
    return std::move(response).error();
  }
  if (response->status == 416) return EndsBefore(key, offset, length);
  if (response->status == 206) {
    const auto range = ParseContentRange(response->Header("content-range"));
    if (!range || range->first != offset ||
        range->last - range->first + 1 != response->body.size()) {
      return IgnoresRanges(key);
    }
  } else if (offset != 0) {
    return IgnoresRanges(key);
  }
  if (response->body.size() != length) return EndsBefore(key, offset, length);
  return std::move(response->body);
}

Result<ObjectTail> S3Store::GetTail(std::string_view key, uint64_t length) const {
  RETURN_IF_ERROR(CheckKey(key));
  const Call call{.key = std::string(key),
                  .headers = {{"Range", fmt::format("bytes=-{}", length)}},
                  .max_response_bytes = length,
                  .expected_bytes = length,
                  .also_accepted = {416}};
  if (length > 0) {
    Result<net::HttpResponse> response = shared_->client.Send(call, limits_);
    if (!response) {
      if (response.error().code() == ErrorCode::kExhausted) return IgnoresRanges(key);
      return std::move(response).error();
    }
    const auto range = ParseContentRange(response->Header("content-range"));
    const uint64_t got = response->body.size();
    if (response->status == 206 && got > 0) {
      if (!range || range->last + 1 != range->size || range->last - range->first + 1 != got ||
          (got != length && got != range->size)) {
        return IgnoresRanges(key);
      }
      return ObjectTail{.bytes = std::move(response->body), .object_size = range->size};
    }
    // All of an object that is not longer than the tail.
    if (response->status == 200) {
      return ObjectTail{.bytes = std::move(response->body), .object_size = got};
    }
  }
  // An empty object has no range at all: AWS answers 416, MinIO 206 with "bytes 0--1/0".
  ASSIGN_OR_RETURN(const uint64_t size, Size(key));
  if (length > 0 && size > 0) return IgnoresRanges(key);
  return ObjectTail{.object_size = size};
}

Result<uint64_t> S3Store::Size(std::string_view key) const {
  RETURN_IF_ERROR(CheckKey(key));
  const Call call{.method = "HEAD", .key = std::string(key)};
  ASSIGN_OR_RETURN(const net::HttpResponse response, shared_->client.Send(call, limits_));
  const std::string_view text = response.Header("content-length");
  uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Error(ErrorCode::kUnsupported, fmt::format("{}: the server sent no size", key));
  }
  return size;
}

Result<std::vector<ObjectInfo>> S3Store::List(std::string_view prefix, std::string_view start_after,
                                              size_t limit) const {
  return shared_->listing.Objects(prefix, start_after, limit, limits_);
}

Result<std::vector<std::string>> S3Store::ListFolders(std::string_view prefix) const {
  if (!prefix.empty()) RETURN_IF_ERROR(CheckKey(std::string(prefix) + 'x'));
  return shared_->listing.Folders(prefix, limits_);
}

Status S3Store::Delete(std::string_view key) { return shared_->deletion.One(key, limits_); }

std::vector<Status> S3Store::DeleteEach(std::span<const std::string> keys) {
  return shared_->deletion.Each(keys, limits_);
}

Status S3Store::Check() const {
  constexpr int64_t kWithinNs = 15 * kNsPerSecond;
  CallLimits limits = limits_;
  limits.deadline_ns =
      std::min(limits.deadline_ns, shared_->client.clock().MonotonicNs() + kWithinNs);
  RETURN_IF_ERROR(shared_->listing.Objects("", "", 1, limits));
  return OkStatus();
}

Result<uint64_t> S3Store::AbortUploads(std::string_view prefix, int64_t before_s) {
  return s3::AbortUploads(shared_->client, prefix, before_s, limits_);
}

}  // namespace firetower::store::s3
