// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/credentials.h"

#include <algorithm>

#include "base/file.h"

namespace firetower::k8s {
namespace {

// A plugin may ask a service in another continent.
constexpr int64_t kPluginTimeoutNs = 30 * kNsPerSecond;
// Credentials are fetched again this long before they expire, in case the clock is slightly wrong.
constexpr int64_t kExpiryMarginNs = 10 * kNsPerSecond;

// RFC 6750 allows no blanks in a token; a file written by hand ends in a newline. A control
// character within would end the header it is put into.
Status CleanToken(std::string& token) {
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!token.empty() && blank(token.back())) token.pop_back();
  token.erase(token.begin(), std::find_if_not(token.begin(), token.end(), blank));
  if (std::any_of(token.begin(), token.end(), [](char c) { return c <= ' ' || c > '~'; }))
    return Error(ErrorCode::kInvalid, "the token holds a blank or a character that is not ASCII");
  return OkStatus();
}

}  // namespace

Status Credentials::AddPlugins(Identity& identity) {
  const bool expired = plugin_ && plugin_->expires_wall_ns &&
                       clock_.WallNs() > *plugin_->expires_wall_ns - kExpiryMarginNs;
  if (!plugin_ || expired) {
    ASSIGN_OR_RETURN(plugin_, RunExecPlugin(config_, cancel_fd_, kPluginTimeoutNs));
  }
  identity.bearer_token = plugin_->token;
  if (!plugin_->certificate_pem.empty()) {
    identity.certificate_pem = plugin_->certificate_pem;
    identity.key_pem = plugin_->key_pem;
  }
  return OkStatus();
}

Result<Identity> Credentials::Read() {
  Identity identity;
  ASSIGN_OR_RETURN(identity.certificate_pem, config_.client_certificate.Read());
  ASSIGN_OR_RETURN(identity.key_pem, config_.client_key.Read());
  if (config_.exec) {
    RETURN_IF_ERROR(AddPlugins(identity));
  } else if (!config_.token_file.empty()) {
    ASSIGN_OR_RETURN(identity.bearer_token, ReadFile(config_.token_file, kMaxCredentialBytes));
  } else {
    identity.bearer_token = config_.token;
  }
  Status clean = CleanToken(identity.bearer_token);
  if (!clean) return std::move(clean).error().Context(config_.token_file);
  if (!config_.token_file.empty() && !config_.exec && identity.bearer_token.empty())
    return Error(ErrorCode::kInvalid, config_.token_file + ": is empty");
  return identity;
}

Result<Identity> Credentials::Get() {
  Result<Identity> identity = Read();
  if (identity) {
    last_ = *identity;
    return identity;
  }
  if (!last_) return std::move(identity).error().Context("credentials");
  return *last_;
}

bool Credentials::Refused() {
  plugin_.reset();
  return config_.exec.has_value() || !config_.token_file.empty();
}

}  // namespace firetower::k8s
