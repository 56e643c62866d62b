// SPDX-License-Identifier: Apache-2.0
#include "query/http/url.h"

#include <fmt/core.h>

namespace firetower::query {
namespace {

constexpr size_t kMaxParams = 64;

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> Decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] == '%') {
      int high = i + 2 < text.size() ? HexValue(text[i + 1]) : -1;
      int low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return Error(ErrorCode::kInvalid,
                     fmt::format("'{}' has a '%' without two hexadecimal digits; write %25 for a "
                                 "percent sign",
                                 text));
      }
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
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

}  // namespace firetower::query
