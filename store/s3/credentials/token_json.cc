// SPDX-License-Identifier: Apache-2.0
#include "store/s3/credentials/token_json.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "store/s3/http/date.h"

namespace firetower::store::s3 {
namespace {

std::string Member(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

Result<Credentials> ParseTokenJson(std::string_view text, int64_t now_ns) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return Error(ErrorCode::kCorrupt, "the answer is not a JSON object");
  const std::string code = Member(json, "Code");
  if (!code.empty() && code != "Success") {
    return Error(ErrorCode::kUnavailable, fmt::format("it answers {}", code.substr(0, 100)));
  }
  Credentials credentials{.access_key_id = Member(json, "AccessKeyId"),
                          .secret_access_key = Member(json, "SecretAccessKey"),
                          .session_token = Member(json, "Token")};
  const std::string expiration = Member(json, "Expiration");
  if (!expiration.empty()) {
    const std::optional<int64_t> expires_s = ParseIsoTime(expiration);
    if (!expires_s) return Error(ErrorCode::kCorrupt, "its Expiration is not a time in UTC");
    credentials.expires_ns = *expires_s * kNsPerSecond;
  }
  credentials.refresh_ns = RefreshTimeNs(credentials.expires_ns, now_ns);
  return credentials;
}

}  // namespace firetower::store::s3
