// SPDX-License-Identifier: Apache-2.0
#include "store/s3/deletion.h"

#include <fmt/core.h>

#include <map>
#include <optional>
#include <utility>

#include "base/log.h"
#include "store/key.h"
#include "store/s3/messages.h"
#include "store/s3/sign/digest.h"

namespace firetower::store::s3 {
namespace {

// The server's own wish, where one is configured; it insists on one of the two.
net::NamedValue ChecksumOf(const Config& config, std::string_view body) {
  if (config.checksum == Checksum::kCrc32c) return {"x-amz-checksum-crc32c", Crc32cBase64(body)};
  return {"Content-MD5", Md5Base64(body)};
}

Error NotTold(std::string_view key) {
  return {ErrorCode::kUnavailable,
          fmt::format("{}: the server did not confirm the deletion of this object", key)};
}

}  // namespace

Status Deletion::One(std::string_view key, const CallLimits& limits) {
  RETURN_IF_ERROR(CheckKey(key));
  const Call call{.method = "DELETE", .key = std::string(key)};
  const Result<net::HttpResponse> response = client_.Send(call, limits);
  if (!response && response.error().code() != ErrorCode::kNotFound) return response.error();
  return OkStatus();
}

std::vector<Status> Deletion::Each(std::span<const std::string> keys, const CallLimits& limits) {
  std::vector<Status> results(keys.size(), OkStatus());
  std::vector<size_t> together;
  const auto send = [&] {
    if (!together.empty()) Batch(keys, together, limits, results);
    together.clear();
  };
  for (size_t i = 0; i < keys.size(); ++i) {
    if (one_by_one_ || !CheckKey(keys[i])) {
      results[i] = One(keys[i], limits);
      continue;
    }
    together.push_back(i);
    if (together.size() == kMaxDeletedAtOnce) send();
  }
  send();
  return results;
}

// Stops at an error that would repeat for each of a thousand keys.
void Deletion::DeleteSingly(std::span<const std::string> keys, std::span<const size_t> some,
                            ErrorCode together, const CallLimits& limits,
                            std::vector<Status>& results) {
  Status refused;
  for (const size_t i : some) {
    results[i] = refused ? One(keys[i], limits) : refused;
    const bool is_same = !results[i] && results[i].error().code() == together;
    if (is_same && i == some.front()) refused = results[i];
  }
}

// A server without that path may say so with a page of its own.
Error Deletion::NoSuchPath(const Call& call, const net::HttpResponse& response) const {
  const Error error = client_.ToError(call, response);
  return RefusalOf(response).body.code.empty() ? Error(ErrorCode::kNotFound, error.message())
                                               : error;
}

void Deletion::Batch(std::span<const std::string> keys, std::span<const size_t> some,
                     const CallLimits& limits, std::vector<Status>& results) {
  const std::string& prefix = client_.config().prefix;
  std::vector<std::string> whole;
  for (const size_t i : some) whole.push_back(prefix + keys[i]);
  const std::string body = DeleteBody(whole);
  const Call call{.method = "POST",
                  .on_bucket = true,
                  .query = {{"delete", ""}},
                  .headers = {ChecksumOf(client_.config(), body)},
                  .body = body,
                  .max_response_bytes = kMaxMessageBytes,
                  // Nothing comes until all are deleted.
                  .stall_seconds = client_.config().timeout_seconds,
                  .also_accepted = {404},
                  .answers_xml = true};
  const Result<net::HttpResponse> response = client_.Send(call, limits);
  std::optional<Error> refused;
  if (!response) refused = response.error();
  if (response && response->status == 404) refused = NoSuchPath(call, *response);
  if (refused) {
    const ErrorCode code = refused->code();
    // Servers, and rights, may know single deletions only: any answer that is one is tried so.
    if (code == ErrorCode::kUnavailable || code == ErrorCode::kCorrupt) {
      for (const size_t i : some) results[i] = *refused;
      return;
    }
    if (code == ErrorCode::kUnsupported && !one_by_one_.exchange(true)) {
      LOG(kInfo, "the S3 server deletes objects one by one only", {{"answer", refused->message()}});
    }
    DeleteSingly(keys, some, code, limits, results);
    return;
  }
  const Result<DeleteAnswer> answer = ParseDeleteAnswer(response->body);
  if (!answer) {
    for (const size_t i : some) results[i] = Error(answer.error()).Context("DELETE of several");
    return;
  }
  // By key: none if it is gone, else why not. An error counts more than its opposite.
  std::map<std::string_view, std::optional<std::string_view>> told;
  for (const std::string& key : answer->deleted) told[key] = std::nullopt;
  for (const auto& [key, code] : answer->failed) told[key] = code;
  for (size_t n = 0; n < some.size(); ++n) {
    const size_t i = some[n];
    const auto found = told.find(whole[n]);
    if (found == told.end()) {
      results[i] = NotTold(keys[i]);
    } else if (found->second && *found->second != "NoSuchKey") {
      const Refusal refusal{.status = 200, .body = {.code = std::string(*found->second)}};
      results[i] = client_.ToError({.method = "DELETE", .key = keys[i]}, refusal);
    }
  }
}

}  // namespace firetower::store::s3
