// SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <memory>
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

bool IsIpv6(const std::string& host) {
  in6_addr parsed{};
  // It reads up to a null character; what is behind would be carried into requests' heads.
  return host.find('\0') == std::string::npos && ::inet_pton(AF_INET6, host.c_str(), &parsed) == 1;
}

struct FreeUrl {
  void operator()(CURLU* url) const { ::curl_url_cleanup(url); }
};

// A part of the URL, "" when it has none.
std::string PartOf(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (::curl_url_get(url, part, &text, 0) != CURLUE_OK) return "";
  std::string copy = text;
  ::curl_free(text);
  return copy;
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

bool IsHost(const std::string& host) {
  const bool is_name = !host.empty() && host.size() <= 253 && std::ranges::all_of(host, [](char c) {
    return IsUnreserved(c) && c != '~';
  });
  return is_name || IsIpv6(host);
}

std::string Url::Authority() const {
  return IsIpv6(host) ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string Url::Text() const {
  return fmt::format("{}://{}{}", tls ? "https" : "http", Authority(), path);
}

bool Url::IsLoopback() const {
  in_addr v4{};
  return host == "localhost" || host == "::1" ||
         (::inet_pton(AF_INET, host.c_str(), &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127);
}

Result<Url> ParseUrl(std::string_view text, const DefaultPorts& ports) {
  const auto wrong = [](std::string_view why) {
    return Error(ErrorCode::kInvalid, std::string(why));
  };
  Url url;
  url.tls = text.starts_with("https://");
  if (!url.tls && !text.starts_with("http://"))
    return wrong("it must start with https:// or http://");
  constexpr std::string_view kNever = "?#\"'\\<>^`{|}";
  if (std::ranges::any_of(text, [&](char c) {
        return c <= ' ' || c > '~' || kNever.find(c) != std::string_view::npos;
      }))
    return wrong("only host, port and path may stand there: no blanks, no '?', no '#'");
  const std::string_view rest = text.substr(text.find("://") + 3);
  const std::string_view authority = rest.substr(0, rest.find('/'));
  if (authority.empty()) return wrong("it names no host");
  if (authority.find('@') != std::string_view::npos)
    return wrong("it holds a user or a password, which would be seen by all who see the URL");
  const std::unique_ptr<CURLU, FreeUrl> parsed(::curl_url());
  const CURLUcode code = ::curl_url_set(parsed.get(), CURLUPART_URL, std::string(text).c_str(),
                                        CURLU_DISALLOW_USER | CURLU_PATH_AS_IS);
  if (code == CURLUE_BAD_PORT_NUMBER) return wrong("the port is not a number from 1 to 65535");
  if (code != CURLUE_OK) return wrong(::curl_url_strerror(code));
  url.host = PartOf(parsed.get(), CURLUPART_HOST);
  if (url.host.starts_with('[')) url.host = url.host.substr(1, url.host.size() - 2);
  // It would end up in a request's head, with what is encoded decoded.
  if (authority.find('%') != std::string_view::npos || !IsHost(url.host))
    return wrong("its host is no name or address; an IPv6 address stands in brackets");
  const std::string port = PartOf(parsed.get(), CURLUPART_PORT);
  url.port = url.tls ? ports.https : ports.http;
  if (!port.empty()) std::from_chars(port.data(), port.data() + port.size(), url.port);
  if (url.port == 0) return wrong("the port is not a number from 1 to 65535");
  url.path = PartOf(parsed.get(), CURLUPART_PATH);
  while (url.path.ends_with('/')) url.path.pop_back();
  return url;
}

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
