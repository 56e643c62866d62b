// SPDX-License-Identifier: Apache-2.0
// AWS Signature Version 4 in a header (S3 API reference, "Signature Calculations for the
// Authorization Header"): pure functions of a request, a key and a time.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "net/client/http_client.h"
#include "store/s3/sign/digest.h"
#include "store/s3/sign/uri.h"

namespace firetower::store::s3 {

// SHA-256 of the empty string.
inline constexpr std::string_view kEmptySha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

struct SigningRequest {
  std::string_view method = {};
  std::string_view encoded_path = {};  // as it is sent: S3 encodes once
  std::span<const QueryParameter> query = {};
  // All of them are signed, Host among them. Never Accept-Encoding, nor what else a proxy or a
  // front end rewrites.
  std::span<const net::NamedValue> headers = {};
  std::string_view payload_sha256 = kEmptySha256;  // hexadecimal
};

struct SigningKey {
  std::string_view access_key_id = {};
  std::string_view secret_access_key = {};
  std::string_view region = {};
  std::string_view service = "s3";
};

// "20130524T000000Z", as in x-amz-date.
std::string AmzDate(int64_t unix_s);

// The steps, for tests against the published ones.
std::string CanonicalRequest(const SigningRequest& request);
std::string StringToSign(const SigningRequest& request, const SigningKey& key,
                         std::string_view amz_date);

// Signs requests. The key that is derived from a secret is the same for a day: the last one is
// kept. Any thread.
class Signer {
 public:
  // The value of Authorization.
  std::string Authorization(const SigningRequest& request, const SigningKey& key,
                            std::string_view amz_date);

 private:
  Sha256Digest DerivedKey(const SigningKey& key, std::string_view amz_date);

  std::mutex mutex_;  // requests come from several threads, milliseconds apart
  std::string of_;    // whose key and which day's
  Sha256Digest derived_ = {};
};

}  // namespace firetower::store::s3
