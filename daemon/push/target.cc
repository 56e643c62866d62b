// SPDX-License-Identifier: Apache-2.0
#include "daemon/push/target.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/text/url_options.h"
#include "base/units.h"
#include "net/url.h"

namespace firetower::daemon {
namespace {

constexpr std::string_view kPyroscopePath = "/push.v1.PusherService/Push";
constexpr std::string_view kOtlpPath = "/v1development/profiles";
constexpr std::string_view kOptionNames =
    "basic-auth-file, ca-file, proxy, tenant, timeout, token-file";

Error Invalid(std::string why) { return {ErrorCode::kInvalid, std::move(why)}; }

struct Scheme {
  std::string_view prefix;
  PushKind kind;
  std::string_view http;
};
constexpr Scheme kSchemes[] = {{"pyroscope+http://", PushKind::kPyroscope, "http://"},
                               {"pyroscope+https://", PushKind::kPyroscope, "https://"},
                               {"otlp+http://", PushKind::kOtlp, "http://"},
                               {"otlp+https://", PushKind::kOtlp, "https://"}};

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool AreAll(std::string_view text, std::string_view others) {
  return std::ranges::all_of(
      text, [&](char c) { return IsAlphanumeric(c) || others.find(c) != std::string_view::npos; });
}

Status SetFile(std::string_view name, std::string value, std::string* field) {
  if (!value.starts_with('/')) return Invalid(fmt::format("{} is not an absolute path", name));
  *field = std::move(value);
  return OkStatus();
}

Status SetTimeout(std::string_view value, PushTarget* target) {
  const Result<int64_t> ns = ParseDurationNs(value);
  if (!ns || *ns < kNsPerSecond || *ns > 60 * kNsPerSecond)
    return Invalid("timeout must be 1s to 60s");
  target->timeout_seconds = *ns / kNsPerSecond;
  return OkStatus();
}

Status SetProxy(std::string value, PushTarget* target) {
  const bool is_url = value.starts_with("http://") || value.starts_with("https://");
  if (value != "none" && (!is_url || value.find('@') != std::string::npos))
    return Invalid("proxy must be none, or http://HOST:PORT without a user");
  target->transport.proxy = std::move(value);
  return OkStatus();
}

Status SetTenant(std::string value, PushTarget* target) {
  if (value.size() > 150 || !AreAll(value, "-._!*'()"))
    return Invalid("tenant must be at most 150 letters, digits and any of - . _ ! * ' ( )");
  target->tenant = std::move(value);
  return OkStatus();
}

Status SetOption(std::string_view name, std::string value, PushTarget* target) {
  if (name == "basic-auth-file") return SetFile(name, std::move(value), &target->basic_auth_file);
  if (name == "ca-file") return SetFile(name, std::move(value), &target->transport.ca_file);
  if (name == "proxy") return SetProxy(std::move(value), target);
  if (name == "tenant") return SetTenant(std::move(value), target);
  if (name == "timeout") return SetTimeout(value, target);
  if (name == "token-file") return SetFile(name, std::move(value), &target->token_file);
  return Invalid(
      fmt::format("there is no option \"{}\"; there are {}", name.substr(0, 40), kOptionNames));
}

Status SetOptions(std::string_view query, PushTarget* target) {
  ASSIGN_OR_RETURN(std::vector<UrlOption> options, ParseUrlOptions(query));
  for (UrlOption& option : options) {
    RETURN_IF_ERROR(SetOption(option.name, std::move(option.value), target));
  }
  if (!target->token_file.empty() && !target->basic_auth_file.empty())
    return Invalid("token-file and basic-auth-file: one of them");
  return OkStatus();
}

}  // namespace

Result<PushTarget> ParsePushTarget(std::string_view text) {
  const auto* scheme = std::ranges::find_if(
      kSchemes, [&](const Scheme& one) { return text.starts_with(one.prefix); });
  if (scheme == std::end(kSchemes)) {
    return Invalid(
        "a server's URL begins with pyroscope+http://, pyroscope+https://, "
        "otlp+http:// or otlp+https://");
  }
  PushTarget target;
  target.kind = scheme->kind;
  target.name = text.substr(0, text.find('?'));
  while (target.name.ends_with('/')) target.name.pop_back();
  std::string_view rest = text.substr(scheme->prefix.size());
  const std::string_view place = rest.substr(0, rest.find('?'));
  rest.remove_prefix(std::min(place.size() + 1, rest.size()));
  if (place.find('@') != std::string_view::npos) {
    return Invalid(
        "a user or password in a URL is seen by all who see the URL: name a file that "
        "holds it, with basic-auth-file or token-file");
  }
  Result<net::Url> url = net::ParseUrl(std::string(scheme->http).append(place));
  if (!url) return Invalid("behind :// HOST or HOST:PORT must follow: " + url.error().message());
  std::string_view path = url->path;
  if (scheme->kind == PushKind::kOtlp && path.empty()) path = kOtlpPath;
  target.url = fmt::format("{}{}{}{}", scheme->http, place.substr(0, place.find('/')), path,
                           scheme->kind == PushKind::kPyroscope ? kPyroscopePath : "");
  RETURN_IF_ERROR(SetOptions(rest, &target));
  return target;
}

Result<std::vector<std::string>> SplitPushUrls(std::string_view list) {
  std::vector<std::string> urls;
  std::set<std::string> names;
  while (!list.empty()) {
    const std::string_view url = list.substr(0, list.find_first_of(", \t\n"));
    list.remove_prefix(std::min(url.size() + 1, list.size()));
    if (url.empty()) continue;
    ASSIGN_OR_RETURN(const PushTarget target, ParsePushTarget(url));
    if (!names.insert(target.name).second)
      return Invalid(fmt::format("{} is named twice", target.name));
    urls.emplace_back(url);
  }
  if (urls.size() > kMaxPushTargets)
    return Invalid(fmt::format("{} servers are more than {}", urls.size(), kMaxPushTargets));
  return urls;
}

}  // namespace firetower::daemon
