// SPDX-License-Identifier: Apache-2.0
#include "store/s3/credentials/chain.h"

#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "store/s3/credentials/container.h"
#include "store/s3/credentials/instance.h"
#include "store/s3/credentials/web_identity.h"

namespace firetower::store::s3 {
namespace {

using Source = Result<std::unique_ptr<CredentialsSource>>;

class Chooser {
 public:
  Chooser(const CredentialsOptions& options, const Environment& environment,
          net::HttpClient& transport, const Clock& clock)
      : options_(options), environment_(environment), transport_(transport), clock_(clock) {}

  Source Choose() const {
    const std::string& wanted = options_.source;
    if (wanted == "environment") return EnvironmentSource(environment_);
    if (wanted == "file") return File();
    if (wanted == "web-identity") return Identity();
    if (wanted == "container") return Container();
    if (wanted == "instance") return Instance();
    if (NamesFile()) return File();
    if (Has("AWS_ACCESS_KEY_ID") || Has("AWS_SECRET_ACCESS_KEY")) {
      return EnvironmentSource(environment_);
    }
    if (Has("AWS_SHARED_CREDENTIALS_FILE") || Has("AWS_PROFILE")) return File();
    if (Has("AWS_WEB_IDENTITY_TOKEN_FILE") || Has("AWS_ROLE_ARN")) return Identity();
    if (Has(kFullUri) || Has(kRelativeUri)) return Container();
    const std::string home_file = HomeFile();
    if (!home_file.empty() && ::access(home_file.c_str(), F_OK) == 0) return File();
    if (environment_("AWS_EC2_METADATA_DISABLED") != "true") return Instance();
    return Error(ErrorCode::kNotFound,
                 "no S3 credentials are configured; docs/reference/object-store.md lists the ways");
  }

 private:
  static constexpr const char* kFullUri = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
  static constexpr const char* kRelativeUri = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";

  bool Has(const char* name) const { return !environment_(name).empty(); }

  bool NamesFile() const {
    const KeyFiles& files = options_.key_files;
    return !files.access_key.empty() || !files.secret_key.empty() || !options_.file.empty() ||
           !options_.profile.empty();
  }

  std::string HomeFile() const {
    const std::string home = environment_("HOME");
    return home.empty() ? "" : home + "/.aws/credentials";
  }

  std::string Or(std::string first, std::string second) const {
    return first.empty() ? std::move(second) : std::move(first);
  }

  Source File() const {
    const KeyFiles& files = options_.key_files;
    if (!files.access_key.empty() || !files.secret_key.empty()) {
      if (files.access_key.empty() || files.secret_key.empty()) {
        return Error(ErrorCode::kInvalid,
                     "credentials: access-key-file and secret-key-file are needed both");
      }
      return KeyFilesSource(files, clock_);
    }
    const std::string path =
        Or(options_.file, Or(environment_("AWS_SHARED_CREDENTIALS_FILE"), HomeFile()));
    if (path.empty()) {
      return Error(ErrorCode::kInvalid, "credentials: no file is configured and HOME is not set");
    }
    return ProfileSource(path, Or(options_.profile, Or(environment_("AWS_PROFILE"), "default")),
                         clock_);
  }

  Source Identity() const {
    WebIdentity identity{.role_arn = environment_("AWS_ROLE_ARN"),
                         .token_file = environment_("AWS_WEB_IDENTITY_TOKEN_FILE"),
                         .session_name = Or(environment_("AWS_ROLE_SESSION_NAME"), "firetower"),
                         .sts_endpoint = options_.sts_endpoint};
    if (identity.role_arn.empty() || identity.token_file.empty()) {
      return Error(ErrorCode::kInvalid,
                   "credentials: web identity needs AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE");
    }
    if (identity.sts_endpoint.empty()) identity.sts_endpoint = environment_("AWS_ENDPOINT_URL_STS");
    if (identity.sts_endpoint.empty()) identity.sts_endpoint = StsEndpoint(options_.region);
    while (identity.sts_endpoint.ends_with('/')) identity.sts_endpoint.pop_back();
    return WebIdentitySource(std::move(identity), transport_, clock_);
  }

  Source Container() const {
    const std::string relative = environment_(kRelativeUri);
    ContainerEndpoint endpoint{
        .url = relative.empty() ? environment_(kFullUri) : "http://169.254.170.2" + relative,
        .token_file = environment_("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
        .token = environment_("AWS_CONTAINER_AUTHORIZATION_TOKEN")};
    if (endpoint.url.empty()) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("credentials: neither {} nor {} is set", kFullUri, kRelativeUri));
    }
    RETURN_IF_ERROR(CheckContainerUrl(endpoint.url));
    return ContainerSource(std::move(endpoint), transport_, clock_);
  }

  Source Instance() const {
    return InstanceSource(Or(environment_("AWS_EC2_METADATA_SERVICE_ENDPOINT"), kInstanceEndpoint),
                          transport_, clock_);
  }

  const CredentialsOptions& options_;
  const Environment& environment_;
  net::HttpClient& transport_;
  const Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<CredentialsSource>> ChooseSource(const CredentialsOptions& options,
                                                        const Environment& environment,
                                                        net::HttpClient& transport,
                                                        const Clock& clock) {
  return Chooser(options, environment, transport, clock).Choose();
}

}  // namespace firetower::store::s3
