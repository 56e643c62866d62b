// SPDX-License-Identifier: Apache-2.0
#include "store/s3/credentials/credentials.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace firetower::store::s3 {

Environment SystemEnvironment() {
  return [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
}

void HideSecrets(const Credentials& credentials, std::string* text) {
  constexpr std::string_view kInstead = "[secret]";
  for (const std::string& secret : {credentials.secret_access_key, credentials.session_token}) {
    if (secret.empty()) continue;
    for (size_t at = text->find(secret); at != std::string::npos;
         at = text->find(secret, at + kInstead.size())) {
      text->replace(at, secret.size(), kInstead);
    }
  }
}

int64_t RefreshTimeNs(int64_t expires_ns, int64_t now_ns) {
  if (expires_ns == Credentials::kNever) return Credentials::kNever;
  return std::max(expires_ns - kRefreshBeforeNs, now_ns + kRefreshAgainNs);
}

Status CheckCredentials(const Credentials& credentials, const std::string& source) {
  auto printable = [](std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7F; });
  };
  const std::pair<const char*, const std::string&> parts[] = {
      {"access key id", credentials.access_key_id},
      {"secret access key", credentials.secret_access_key},
      {"session token", credentials.session_token}};
  for (const auto& [name, value] : parts) {
    if (value.empty() && &value != &credentials.session_token) {
      return Error(ErrorCode::kInvalid, fmt::format("credentials of {}: no {}", source, name));
    }
    if (!printable(value)) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("credentials of {}: the {} holds a blank, a line break or another "
                               "character that no key has",
                               source, name));
    }
  }
  return OkStatus();
}

}  // namespace firetower::store::s3
