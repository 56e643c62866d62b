// SPDX-License-Identifier: Apache-2.0
#include "store/s3/sign/uri.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace firetower::store::s3 {
namespace {

bool IsUnreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::string Encode(std::string_view text, bool keep_slashes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c) || (keep_slashes && c == '/')) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out;
}

}  // namespace

std::string EncodeUriComponent(std::string_view text) { return Encode(text, false); }
std::string EncodeUriPath(std::string_view path) { return Encode(path, true); }

std::string CanonicalQuery(std::span<const QueryParameter> query) {
  std::vector<std::pair<std::string, std::string>> encoded;
  encoded.reserve(query.size());
  for (const QueryParameter& parameter : query) {
    encoded.emplace_back(EncodeUriComponent(parameter.name), EncodeUriComponent(parameter.value));
  }
  std::ranges::sort(encoded);
  std::string out;
  for (const auto& [name, value] : encoded) {
    if (!out.empty()) out += '&';
    out += name;
    out += '=';
    out += value;
  }
  return out;
}

}  // namespace firetower::store::s3
