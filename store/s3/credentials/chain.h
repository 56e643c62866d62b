// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "net/client/http_client.h"
#include "store/s3/credentials/credentials.h"
#include "store/s3/credentials/static_source.h"

namespace firetower::store::s3 {

// Credential options of a store's URL.
struct CredentialsOptions {
  // auto, environment, file, web-identity, container or instance.
  std::string source = "auto";
  KeyFiles key_files = {};
  std::string file = {};     // shared credentials file
  std::string profile = {};  // of it; empty: AWS_PROFILE, then "default"
  std::string sts_endpoint = {};
  std::string region = {};  // for STS; may be empty
};

// Chooses the only source to use: the first of this list that is configured, the most specific one
// first. If it fails, that is an error: another identity, often with more rights, is never used
// instead. Nothing is read or requested yet, except whether ~/.aws/credentials exists.
//
//   key files, or a credentials file, named by the URL
//   AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY
//   AWS_SHARED_CREDENTIALS_FILE or AWS_PROFILE
//   AWS_WEB_IDENTITY_TOKEN_FILE or AWS_ROLE_ARN
//   AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI
//   ~/.aws/credentials
//   the instance's role, unless AWS_EC2_METADATA_DISABLED is true
//
// kInvalid if the configured source is incomplete, kNotFound if none is configured.
Result<std::unique_ptr<CredentialsSource>> ChooseSource(const CredentialsOptions& options,
                                                        const Environment& environment,
                                                        net::HttpClient& transport,
                                                        const Clock& clock);

}  // namespace firetower::store::s3
