// SPDX-License-Identifier: Apache-2.0
#include "daemon/push/credentials.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/text/base64.h"

namespace firetower::daemon {
namespace {

constexpr size_t kMaxBytes = 16 << 10;

// One line of printable ASCII: anything else would end the header, or begin another one.
Result<std::string> ReadLine(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path, kMaxBytes));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  const bool fits =
      !text.empty() && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  if (!fits)
    return Error(ErrorCode::kInvalid, fmt::format("{} does not hold one line of ASCII", path));
  return text;
}

}  // namespace

Result<net::NamedValues> ReadCredentials(const PushTarget& target) {
  net::NamedValues headers;
  if (!target.tenant.empty()) headers.push_back({"X-Scope-OrgID", target.tenant});
  if (!target.token_file.empty()) {
    ASSIGN_OR_RETURN(const std::string token, ReadLine(target.token_file));
    headers.push_back({"Authorization", "Bearer " + token});
  }
  if (!target.basic_auth_file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadLine(target.basic_auth_file));
    if (text.find(':') == std::string::npos) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("{} does not hold user:password", target.basic_auth_file));
    }
    headers.push_back({"Authorization", "Basic " + EncodeBase64(text)});
  }
  return headers;
}

}  // namespace firetower::daemon
