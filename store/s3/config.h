// SPDX-License-Identifier: Apache-2.0
// Settings in s3://BUCKET/PREFIX?OPTION=VALUE&…. docs/reference/object-store.md lists the options.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/client/http_client.h"
#include "store/s3/credentials/chain.h"

namespace firetower::store::s3 {

enum class Checksum : uint8_t { kAuto, kNone, kMd5, kCrc32c };

struct Config {
  std::string bucket = {};
  std::string prefix = {};  // "" or ending in '/'
  // "https://host:port", no path; empty: AWS's own of the region.
  std::string endpoint = {};
  std::string region = {};  // empty: found out
  bool path_style = false;
  Checksum checksum = Checksum::kAuto;
  std::string sse = {};  // "", "AES256" or "aws:kms"
  std::string sse_kms_key_id = {};
  int64_t timeout_seconds = 60;  // of a call, plus the time to transfer its bytes
  uint64_t part_bytes = 8 << 20;
  net::ClientOptions transport = {};
  CredentialsOptions credentials = {};
};

// kInvalid names the option, the error and what is allowed; it never repeats a value that may be
// secret. `environment`: AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL and
// AWS_CA_BUNDLE replace options that are missing.
Result<Config> ParseUrl(std::string_view url, const Environment& environment);

}  // namespace firetower::store::s3
