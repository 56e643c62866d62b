// SPDX-License-Identifier: Apache-2.0
#include "store/s3/refusal.h"

#include <fmt/core.h>

#include "store/s3/http/retry.h"

namespace firetower::store::s3 {
namespace {

// By the error's own code, which says more than the status.
struct Meaning {
  std::string_view s3_code;
  ErrorCode code;
  std::string_view advice;
};

constexpr Meaning kMeanings[] = {
    {"AccessDenied", ErrorCode::kPermission,
     "allow {source} to do this on the bucket and its prefix"},
    {"AllAccessDisabled", ErrorCode::kPermission, "the bucket is switched off"},
    {"AuthorizationHeaderMalformed", ErrorCode::kInvalid, "set region"},
    {"BadDigest", ErrorCode::kUnavailable, "bytes changed on the way"},
    {"ExpiredToken", ErrorCode::kPermission, "{source} gives keys that have expired"},
    {"IllegalLocationConstraintException", ErrorCode::kInvalid, "set region"},
    {"InsufficientStorage", ErrorCode::kExhausted, "make room in the store"},
    {"InvalidAccessKeyId", ErrorCode::kPermission, "the server does not know the key of {source}"},
    {"InvalidPart", ErrorCode::kUnavailable, "the server lost a part; the upload starts again"},
    {"InvalidRange", ErrorCode::kCorrupt, "the object is shorter than its references say"},
    {"InvalidToken", ErrorCode::kPermission, "{source} gives a session token that is refused"},
    {"KMS.DisabledException", ErrorCode::kInvalid, "the key of sse-kms-key-id is disabled"},
    {"KMS.NotFoundException", ErrorCode::kInvalid, "set sse-kms-key-id to an existing key"},
    {"MethodNotAllowed", ErrorCode::kUnsupported, "the server cannot do this"},
    {"NoSuchBucket", ErrorCode::kInvalid, "create the bucket, or correct the store's URL"},
    {"NoSuchKey", ErrorCode::kNotFound, ""},
    {"NoSuchVersion", ErrorCode::kNotFound, ""},
    {"NoSuchUpload", ErrorCode::kUnavailable, "somebody aborted the upload; it starts again"},
    {"NotImplemented", ErrorCode::kUnsupported, "the server cannot do this"},
    {"PermanentRedirect", ErrorCode::kInvalid, "set region, or endpoint, to the bucket's own"},
    {"QuotaExceeded", ErrorCode::kExhausted, "raise the quota, or delete objects"},
    {"RequestTimeTooSkewed", ErrorCode::kInvalid, "set this machine's clock"},
    {"SignatureDoesNotMatch", ErrorCode::kPermission,
     "the secret key of {source} is not that of the access key, or a proxy changes requests"},
    {"XAdminUserNotFound", ErrorCode::kPermission, "the server does not know the key of {source}"},
    {"XAmzContentSHA256Mismatch", ErrorCode::kUnavailable, "bytes changed on the way"},
    {"XMinioAdminBucketQuotaExceeded", ErrorCode::kExhausted, "raise the quota, or delete objects"},
    {"XMinioStorageFull", ErrorCode::kExhausted, "make room in the store"},
    {"kms:KeyNotFound", ErrorCode::kInvalid, "set sse-kms-key-id to an existing key"},
};

constexpr Meaning kStatuses[] = {
    {"301", ErrorCode::kInvalid, "set region, or endpoint, to the bucket's own"},
    {"307", ErrorCode::kInvalid, "set region, or endpoint, to the bucket's own"},
    {"400", ErrorCode::kInvalid, ""},
    {"401", ErrorCode::kPermission, "check the keys of {source}"},
    {"403", ErrorCode::kPermission, "allow {source} to do this, and check its keys"},
    {"404", ErrorCode::kNotFound, ""},
    {"405", ErrorCode::kUnsupported, "the server cannot do this"},
    {"407", ErrorCode::kPermission, "the proxy wants a password: give it in https_proxy"},
    {"411", ErrorCode::kUnsupported, "a proxy drops Content-Length"},
    {"413", ErrorCode::kExhausted, "a proxy refuses bodies of this size"},
    {"416", ErrorCode::kCorrupt, "the object is shorter than its references say"},
    {"501", ErrorCode::kUnsupported, "the server cannot do this"},
    {"507", ErrorCode::kExhausted, "make room in the store"},
};

Meaning MeaningOf(const Refusal& refusal) {
  for (const Meaning& meaning : kMeanings) {
    if (refusal.body.code == meaning.s3_code) return meaning;
  }
  if (refusal.IsRetryable()) {
    return {"", ErrorCode::kUnavailable, "a later attempt may succeed"};
  }
  // Something other than the object is missing. A caller must not take that for a deleted object
  // and drop it.
  if (refusal.status == 404 && !refusal.body.code.empty() && refusal.body.code != "NotFound") {
    return {"", ErrorCode::kInvalid, "correct the store's URL"};
  }
  // S3 servers say in XML what is missing. A proxy's page may mean that its server is down at the
  // moment.
  if (refusal.status == 404 && refusal.body.code.empty() && refusal.has_body) {
    return {"", ErrorCode::kUnavailable,
            "no S3 server answers there: correct endpoint, or check the server behind it"};
  }
  for (const Meaning& meaning : kStatuses) {
    if (std::to_string(refusal.status) == meaning.s3_code) return meaning;
  }
  if (refusal.status == 200) return {"", ErrorCode::kUnavailable, ""};
  const bool foreign = refusal.status < 500;
  return {"", foreign ? ErrorCode::kInvalid : ErrorCode::kUnavailable,
          foreign ? "is this an S3 endpoint?" : "a later attempt may succeed"};
}

std::string WithSource(std::string_view advice, std::string_view source) {
  constexpr std::string_view kPlace = "{source}";
  std::string out(advice);
  const size_t at = out.find(kPlace);
  if (at != std::string::npos) out.replace(at, kPlace.size(), source);
  return out;
}

}  // namespace

bool Refusal::IsRetryable() const { return s3::IsRetryable(status, body.code); }

Error Refusal::ToError(std::string_view what, std::string_view source) const {
  const Meaning meaning = MeaningOf(*this);
  std::string text = fmt::format("{}: {}", what, status);
  if (!body.code.empty()) text += fmt::format(" {}", body.code);
  if (!body.message.empty()) text += fmt::format(": {}", body.message);
  if (!meaning.advice.empty()) text += fmt::format("; {}", WithSource(meaning.advice, source));
  if (!body.endpoint.empty()) text += fmt::format(" ({})", body.endpoint);
  return {meaning.code, std::move(text)};
}

Refusal RefusalOf(const net::HttpResponse& response) {
  return {.status = response.status,
          .body = ParseError(response.body),
          .has_body = !response.body.empty()};
}

}  // namespace firetower::store::s3
