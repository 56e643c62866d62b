// SPDX-License-Identifier: Apache-2.0
#include "store/s3/credentials/static_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/file.h"

namespace firetower::store::s3 {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

class EnvironmentKeys final : public CredentialsSource {
 public:
  explicit EnvironmentKeys(const Environment& environment)
      : credentials_{.access_key_id = environment("AWS_ACCESS_KEY_ID"),
                     .secret_access_key = environment("AWS_SECRET_ACCESS_KEY"),
                     .session_token = environment("AWS_SESSION_TOKEN")} {}

  Result<Credentials> Fetch(const CallLimits&) override {
    for (const auto& [name, value] :
         {std::pair("AWS_ACCESS_KEY_ID", &credentials_.access_key_id),
          std::pair("AWS_SECRET_ACCESS_KEY", &credentials_.secret_access_key)}) {
      if (value->empty()) {
        return Error(ErrorCode::kInvalid, fmt::format("{} is not set; set both", name));
      }
    }
    RETURN_IF_ERROR(CheckCredentials(credentials_, Describe()));
    return credentials_;
  }
  std::string Describe() const override { return "the environment (AWS_ACCESS_KEY_ID)"; }

 private:
  const Credentials credentials_;
};

class Files final : public CredentialsSource {
 public:
  Files(KeyFiles files, const Clock& clock) : files_(std::move(files)), clock_(clock) {}

  Result<Credentials> Fetch(const CallLimits&) override {
    Credentials credentials;
    ASSIGN_OR_RETURN(credentials.access_key_id, Read(files_.access_key));
    ASSIGN_OR_RETURN(credentials.secret_access_key, Read(files_.secret_key));
    if (!files_.session_token.empty()) {
      ASSIGN_OR_RETURN(credentials.session_token, Read(files_.session_token));
    }
    RETURN_IF_ERROR(CheckCredentials(credentials, Describe()));
    credentials.refresh_ns = clock_.WallNs() + kRefreshAgainNs;
    return credentials;
  }
  std::string Describe() const override {
    return fmt::format("the files {} (access key) and {} (secret key)", files_.access_key,
                       files_.secret_key);
  }

 private:
  static Result<std::string> Read(const std::string& path) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxFileBytes));
    return std::string(Trimmed(text));
  }

  const KeyFiles files_;
  const Clock& clock_;
};

class Profile final : public CredentialsSource {
 public:
  Profile(std::string path, std::string profile, const Clock& clock)
      : path_(std::move(path)), profile_(std::move(profile)), clock_(clock) {}

  Result<Credentials> Fetch(const CallLimits&) override {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path_, kMaxFileBytes));
    ASSIGN_OR_RETURN(Credentials credentials, ParseProfile(text, profile_).Context(path_));
    RETURN_IF_ERROR(CheckCredentials(credentials, Describe()));
    credentials.refresh_ns = clock_.WallNs() + kRefreshAgainNs;
    return credentials;
  }
  std::string Describe() const override { return fmt::format("profile {} of {}", profile_, path_); }

 private:
  const std::string path_;
  const std::string profile_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<CredentialsSource> EnvironmentSource(const Environment& environment) {
  return std::make_unique<EnvironmentKeys>(environment);
}

std::unique_ptr<CredentialsSource> KeyFilesSource(KeyFiles files, const Clock& clock) {
  return std::make_unique<Files>(std::move(files), clock);
}

std::unique_ptr<CredentialsSource> ProfileSource(std::string path, std::string profile,
                                                 const Clock& clock) {
  return std::make_unique<Profile>(std::move(path), std::move(profile), clock);
}

Result<Credentials> ParseProfile(std::string_view text, std::string_view profile) {
  Credentials credentials;
  bool found = false;
  bool inside = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      std::string_view name = Trimmed(line.substr(1, line.find(']') - 1));
      constexpr std::string_view kWord = "profile ";  // as ~/.aws/config writes it
      if (name.starts_with(kWord)) name = Trimmed(name.substr(kWord.size()));
      inside = name == profile;
      found = found || inside;
      continue;
    }
    const size_t equals = line.find('=');
    if (!inside || equals == std::string_view::npos) continue;
    const std::string_view name = Trimmed(line.substr(0, equals));
    const std::string_view value = Trimmed(line.substr(equals + 1));
    if (name == "aws_access_key_id") credentials.access_key_id = value;
    if (name == "aws_secret_access_key") credentials.secret_access_key = value;
    if (name == "aws_session_token") credentials.session_token = value;
  }
  if (!found) return Error(ErrorCode::kNotFound, fmt::format("no profile [{}]", profile));
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("profile [{}] needs aws_access_key_id and aws_secret_access_key; "
                             "role_arn, sso and credential_process are not followed",
                             profile));
  }
  return credentials;
}

}  // namespace firetower::store::s3
