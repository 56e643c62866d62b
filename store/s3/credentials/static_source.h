// SPDX-License-Identifier: Apache-2.0
// Keys from the environment or from files.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "store/s3/credentials/credentials.h"

namespace firetower::store::s3 {

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for temporary ones, AWS_SESSION_TOKEN.
std::unique_ptr<CredentialsSource> EnvironmentSource(const Environment& environment);

// One file for each part, as a mounted Secret has them; blanks at the ends are cut off. They are
// read again each minute, so that a rotated Secret is taken over.
struct KeyFiles {
  std::string access_key = {};
  std::string secret_key = {};
  std::string session_token = {};  // may be empty
};
std::unique_ptr<CredentialsSource> KeyFilesSource(KeyFiles files, const Clock& clock);

// A shared credentials file (~/.aws/credentials): [profile] with aws_access_key_id,
// aws_secret_access_key, aws_session_token. Read again each minute.
std::unique_ptr<CredentialsSource> ProfileSource(std::string path, std::string profile,
                                                 const Clock& clock);
// kNotFound without such a section, kInvalid when it has no keys of its own (role_arn,
// credential_process and the like are not followed).
Result<Credentials> ParseProfile(std::string_view text, std::string_view profile);

}  // namespace firetower::store::s3
