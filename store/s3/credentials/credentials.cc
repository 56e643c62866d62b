// SPDX-License-Identifier: Apache-2.0
#include "store/s3/credentials/credentials.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace firetower::store::s3 {
namespace {

// The character that `text` begins with, and how much of it that takes.
std::pair<int, size_t> FirstCharacter(std::string_view text) {
  if (!text.starts_with("&#")) return {text.front(), 1};
  const bool is_hex = text.size() > 2 && (text[2] == 'x' || text[2] == 'X');
  const char* first = text.data() + (is_hex ? 3 : 2);
  int code = 0;
  const auto [end, error] =
      std::from_chars(first, text.data() + text.size(), code, is_hex ? 16 : 10);
  if (error != std::errc() || end == text.data() + text.size() || *end != ';')
    return {text.front(), 1};
  return {code, static_cast<size_t>(end - text.data()) + 1};
}

// Behind `secret` where it is quoted at `begin`, else `begin`.
size_t EndOfQuoted(std::string_view text, size_t begin, std::string_view secret) {
  size_t at = begin;
  for (const char wanted : secret) {
    if (at >= text.size()) return begin;
    const auto [character, length] = FirstCharacter(text.substr(at));
    if (character != wanted) return begin;
    at += length;
  }
  return at;
}

}  // namespace

Environment SystemEnvironment() {
  return [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
}

void HideSecrets(std::initializer_list<std::string_view> secrets, std::string* text) {
  for (const std::string_view secret : secrets) {
    if (secret.empty()) continue;
    std::string hidden;
    for (size_t at = 0; at < text->size();) {
      const size_t end = EndOfQuoted(*text, at, secret);
      hidden += end == at ? std::string_view(*text).substr(at, 1) : std::string_view("[secret]");
      at = std::max(end, at + 1);
    }
    *text = std::move(hidden);
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
                   fmt::format("credentials of {}: the {} contains a blank, a line break or "
                               "another character that is not allowed in a key",
                               source, name));
    }
  }
  return OkStatus();
}

}  // namespace firetower::store::s3
