// SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/text/percent.h"

namespace firetower::net {
namespace {

constexpr size_t kMaxParams = 64;

Result<std::string> Decode(std::string_view text) {
  std::optional<std::string> decoded = DecodePercent(text, true);
  if (decoded) return *std::move(decoded);
  return Error(ErrorCode::kInvalid,
               fmt::format("'{}' has a '%' without two hexadecimal digits; write %25 for a percent "
                           "sign",
                           text));
}

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

void AppendEncoded(std::string_view text, std::string& out) {
  for (char c : text) {
    if (IsUnreserved(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

}  // namespace

Result<NamedValues> DecodeQuery(std::string_view query) {
  NamedValues params;
  while (!query.empty()) {
    std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    if (params.size() == kMaxParams) {
      return Error(ErrorCode::kInvalid, fmt::format("more than {} query parameters", kMaxParams));
    }
    size_t equals = pair.find('=');
    ASSIGN_OR_RETURN(std::string name, Decode(pair.substr(0, equals)));
    std::string value;
    if (equals != std::string_view::npos) {
      ASSIGN_OR_RETURN(value, Decode(pair.substr(equals + 1)));
    }
    params.emplace_back(std::move(name), std::move(value));
  }
  return params;
}

std::string EncodeQuery(const NamedValues& params) {
  std::string out;
  for (const auto& [name, value] : params) {
    out += out.empty() ? '?' : '&';
    AppendEncoded(name, out);
    out += '=';
    AppendEncoded(value, out);
  }
  return out;
}

}  // namespace firetower::net
