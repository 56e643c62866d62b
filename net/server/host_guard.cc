// SPDX-License-Identifier: Apache-2.0
#include "net/server/host_guard.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <utility>

namespace firetower::net {
namespace {

// Of a foreign name in a refusal: DNS has none that is longer.
constexpr size_t kShownBytes = 253;

// Names are compared as DNS does: without case, and without the dot of the root.
std::string Folded(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  std::string out(name);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool IsPort(std::string_view text) {
  return text.empty() ||
         (text.starts_with(':') &&
          std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

bool IsAddress(int family, std::string_view text) {
  in6_addr parsed{};
  return text.find('\0') == std::string_view::npos &&
         ::inet_pton(family, std::string(text).c_str(), &parsed) == 1;
}

// "[::1]:7070" and "[fe80::1%eth0]".
bool IsBracketedAddress(std::string_view host) {
  const size_t end = host.find(']');
  if (!host.starts_with('[') || end == std::string_view::npos) return false;
  const std::string_view inside = host.substr(1, end - 1);
  return IsAddress(AF_INET6, inside.substr(0, inside.find('%'))) && IsPort(host.substr(end + 1));
}

// Of a server's own address, as bound.
bool IsLoopback(std::string_view bound) {
  return bound.starts_with("127.") || bound.starts_with("[::1]:") ||
         bound.starts_with("[::ffff:127.");
}

std::string OwnName() {
  char name[HOST_NAME_MAX + 1] = "";
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

}  // namespace

HostGuard::HostGuard(HostRule rule, std::string url, std::string_view own_name,
                     ErrorFormat error_format)
    : rule_(std::move(rule)), url_(std::move(url)), error_format_(std::move(error_format)) {
  names_.emplace_back("localhost");
  if (!own_name.empty()) {
    names_.push_back(Folded(own_name));
    names_.push_back(Folded(own_name.substr(0, own_name.find('.'))));
  }
  for (const std::string& name : rule_.allowed) {
    if (name == "*") any_name_ = true;
    names_.push_back(Folded(name));
  }
}

bool HostGuard::Knows(std::string_view host) const {
  if (any_name_ || host.empty() || IsBracketedAddress(host)) return true;
  const size_t colon = std::min(host.find(':'), host.size());
  if (!IsPort(host.substr(colon))) return false;
  const std::string_view name = host.substr(0, colon);
  if (IsAddress(AF_INET, name)) return true;
  return std::ranges::find(names_, Folded(name)) != names_.end();
}

std::optional<HttpResponse> HostGuard::Refusal(const HttpRequest& request) const {
  if (Knows(request.host)) return std::nullopt;
  return error_format_(421,
                       fmt::format("asked as '{}', which is no name of this server: a page of "
                                   "another site could read profiles by having its name resolve "
                                   "to here (DNS rebinding), so it answers its addresses, "
                                   "localhost and this machine's name alone; ask {}, or {}",
                                   request.host.substr(0, kShownBytes), url_, rule_.how_to_allow));
}

HttpHandler HostGuard::Around(HttpHandler handler, HostRule rule, std::string_view bound,
                              std::string url, ErrorFormat error_format) {
  if (!IsLoopback(bound) && rule.allowed.empty()) return handler;
  // A std::function is copied, the guard need not be.
  auto guard = std::make_shared<const HostGuard>(std::move(rule), std::move(url), OwnName(),
                                                 std::move(error_format));
  return [guard, handler = std::move(handler)](const HttpRequest& request) {
    std::optional<HttpResponse> refusal = guard->Refusal(request);
    return refusal ? *std::move(refusal) : handler(request);
  };
}

}  // namespace firetower::net
