// SPDX-License-Identifier: Apache-2.0
#include "store/s3/multipart.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "store/access/limited_store.h"
#include "store/s3/messages.h"
#include "store/s3/sign/digest.h"

namespace firetower::store::s3 {
namespace {

// AWS keeps the connection of a completion open with a blank now and then, for minutes.
constexpr int64_t kCompleteStallSeconds = 300;
constexpr int64_t kAbortNs = 5 * kNsPerSecond;

class Upload {
 public:
  Upload(Client& client, std::string_view key, const CallLimits& limits)
      : client_(client), key_(key), limits_(limits) {}

  Status Begin() {
    Call call{.method = "POST",
              .key = key_,
              .query = {{"uploads", ""}},
              .headers = WriteHeaders(client_.config()),
              .answers_xml = true};
    if (HasCrc()) call.headers.push_back({"x-amz-checksum-algorithm", "CRC32C"});
    ASSIGN_OR_RETURN(const net::HttpResponse response, client_.Send(call, limits_));
    ASSIGN_OR_RETURN(id_, ParseUploadId(response.body).Context(key_));
    return OkStatus();
  }

  Status Send(const net::HttpBody& bytes) {
    const Call call{.method = "PUT",
                    .key = key_,
                    .query = {{"partNumber", std::to_string(parts_.size() + 1)}, {"uploadId", id_}},
                    .body = bytes,
                    .body_is_object = true};
    ASSIGN_OR_RETURN(const net::HttpResponse response, client_.Send(call, limits_));
    UploadedPart part{.etag = std::string(response.Header("etag"))};
    if (part.etag.empty()) {
      return Error(ErrorCode::kUnsupported, key_ + ": the server took a part without an ETag");
    }
    if (HasCrc()) {
      ASSIGN_OR_RETURN(part.crc32c, BodyCrc32cBase64(bytes).Context(key_));
    }
    parts_.push_back(std::move(part));
    return OkStatus();
  }

  Status Complete(uint64_t object_bytes) {
    const std::string body = CompleteBody(parts_);
    const Call call{.method = "POST",
                    .key = key_,
                    .query = {{"uploadId", id_}},
                    .body = body,
                    .stall_seconds = kCompleteStallSeconds,
                    .also_accepted = {404},
                    .answers_xml = true};
    ASSIGN_OR_RETURN(const net::HttpResponse response, client_.Send(call, limits_));
    if (response.ok()) return ParseCompleted(response.body).Context(key_);
    if (IsThere(object_bytes)) return OkStatus();
    return client_.ToError(call, response);
  }

  void Abort() {
    const Call call{
        .method = "DELETE", .key = key_, .query = {{"uploadId", id_}}, .also_accepted = {404}};
    const CallLimits own{.deadline_ns = client_.clock().MonotonicNs() + kAbortNs};
    const Result<net::HttpResponse> aborted = client_.Send(call, own);
    if (!aborted) {
      LOG(kWarn, "an upload's parts stay in the S3 store until its orphans are aborted",
          {{"key", key_}, {"error", aborted.error().message()}});
    }
  }

 private:
  bool HasCrc() const { return client_.config().checksum == Checksum::kCrc32c; }

  // NoSuchUpload also comes if the answer to an earlier try was lost: then the object exists.
  // Objects never change, so its size is proof enough.
  bool IsThere(uint64_t object_bytes) {
    const Result<net::HttpResponse> head = client_.Send({.method = "HEAD", .key = key_}, limits_);
    return head && head->Header("content-length") == std::to_string(object_bytes);
  }

  Client& client_;
  const std::string key_;
  const CallLimits& limits_;
  std::string id_;
  std::vector<UploadedPart> parts_;
};

}  // namespace

net::NamedValues WriteHeaders(const Config& config) {
  net::NamedValues headers;
  if (!config.sse.empty()) headers.push_back({"x-amz-server-side-encryption", config.sse});
  if (!config.sse_kms_key_id.empty()) {
    headers.push_back({"x-amz-server-side-encryption-aws-kms-key-id", config.sse_kms_key_id});
  }
  return headers;
}

uint64_t PartBytes(uint64_t object_bytes, uint64_t configured_bytes) {
  constexpr uint64_t kStep = 1 << 20;
  const uint64_t least = (object_bytes + kMaxParts - 1) / kMaxParts;
  return std::max(configured_bytes, (least + kStep - 1) / kStep * kStep);
}

Status PutInParts(Client& client, std::string_view key, const net::HttpBody& object,
                  const CallLimits& limits) {
  Upload upload(client, key, limits);
  RETURN_IF_ERROR(upload.Begin());
  const uint64_t part_bytes = PartBytes(object.size(), client.config().part_bytes);
  auto send = [&]() -> Status {
    for (uint64_t at = 0; at < object.size(); at += part_bytes) {
      RETURN_IF_ERROR(upload.Send(object.Part(at, std::min(part_bytes, object.size() - at))));
    }
    return upload.Complete(object.size());
  };
  Status sent = send();
  if (!sent) upload.Abort();
  return sent;
}

Result<uint64_t> AbortUploads(Client& client, std::string_view prefix, int64_t before_s,
                              const CallLimits& limits) {
  const std::string& stores_prefix = client.config().prefix;
  const std::string full_prefix = stores_prefix + std::string(prefix);
  uint64_t aborted = 0;
  PendingPage page;
  do {
    Call list{.on_bucket = true,
              .query = {{"uploads", ""}, {"prefix", full_prefix}},
              .max_response_bytes = kMaxMessageBytes,
              .answers_xml = true};
    if (!page.next_key.empty()) {
      list.query.push_back({"key-marker", page.next_key});
      list.query.push_back({"upload-id-marker", page.next_upload_id});
    }
    ASSIGN_OR_RETURN(const net::HttpResponse response, client.Send(list, limits));
    const std::string last_key = page.next_key + '\0' + page.next_upload_id;
    ASSIGN_OR_RETURN(page, ParsePendingUploads(response.body));
    if (page.truncated && page.next_key + '\0' + page.next_upload_id == last_key) {
      return Error(ErrorCode::kCorrupt, "the server's listing of uploads does not go on");
    }
    for (const PendingUpload& upload : page.uploads) {
      if (!upload.key.starts_with(full_prefix) || upload.initiated_s >= before_s) continue;
      const Call call{.method = "DELETE",
                      .key = upload.key.substr(stores_prefix.size()),
                      .query = {{"uploadId", upload.upload_id}},
                      .also_accepted = {404}};
      RETURN_IF_ERROR(client.Send(call, limits));
      ++aborted;
    }
  } while (page.truncated);
  return aborted;
}

}  // namespace firetower::store::s3
