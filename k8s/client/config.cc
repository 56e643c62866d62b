// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/config.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"

namespace firetower::k8s {
namespace {

bool IsIpv6(const std::string& host) {
  in6_addr parsed{};
  // It reads up to a null character; what is behind would be carried into requests' heads.
  return host.find('\0') == std::string::npos && ::inet_pton(AF_INET6, host.c_str(), &parsed) == 1;
}

bool IsHostName(std::string_view host) {
  return !host.empty() && host.size() <= 253 && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
}

std::optional<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// host, host:port, [v6] or [v6]:port into `url`. What is wrong, or "".
std::string ParseAuthority(std::string_view text, ServerUrl& url) {
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return "a bracket is not closed";
    url.host = text.substr(1, end - 1);
    if (!IsIpv6(url.host)) return fmt::format("'{}' is no IPv6 address", url.host);
    port = text.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return "something other than a port follows ']'";
  } else {
    const size_t colon = std::min(text.find(':'), text.size());
    url.host = text.substr(0, colon);
    port = text.substr(colon);
    if (port.find(':', 1) != std::string_view::npos) return "an IPv6 address stands in brackets";
    if (!IsHostName(url.host)) return fmt::format("'{}' is no host name or address", url.host);
  }
  if (port.empty()) return "";
  const std::optional<uint16_t> number = ParsePort(port.substr(1));
  if (!number) return fmt::format("'{}' is no port (1 to 65535)", port.substr(1));
  url.port = *number;
  return "";
}

}  // namespace

Result<std::string> PemSource::Read() const {
  if (!data.empty() || path.empty()) return data;
  return ReadFile(path, kMaxCredentialBytes);
}

std::string ClientConfig::ServerText() const {
  const bool v6 = server.host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}{}", server.tls ? "https" : "http", v6 ? "[" : "", server.host,
                     v6 ? "]" : "", server.port, server.base_path);
}

Result<ServerUrl> ParseServerUrl(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("server '{}': {}; write for example https://10.96.0.1:6443 or "
                             "https://[fd00::1]:6443",
                             text, why));
  };
  ServerUrl url;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    url.tls = false;
    url.port = 80;
  } else {
    return wrong("it must start with https:// or http://");
  }
  const size_t slash = std::min(rest.find('/'), rest.size());
  url.base_path = rest.substr(slash);
  while (url.base_path.ends_with('/')) url.base_path.pop_back();
  if (std::any_of(url.base_path.begin(), url.base_path.end(),
                  [](char c) { return c <= ' ' || c > '~' || c == '?' || c == '#'; }))
    return wrong("its path may hold neither blanks nor '?' nor '#'");
  const std::string why = ParseAuthority(rest.substr(0, slash), url);
  if (!why.empty()) return wrong(why);
  return url;
}

Result<ClientConfig> InClusterConfig(std::string_view service_host, std::string_view service_port,
                                     const std::string& folder) {
  if (service_host.empty() || service_port.empty()) {
    return Error(ErrorCode::kUnavailable,
                 "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; "
                 "name a kubeconfig instead");
  }
  ClientConfig config;
  config.server.host = service_host;
  if (!IsIpv6(config.server.host) && !IsHostName(service_host)) {
    return Error(ErrorCode::kInvalid, fmt::format("KUBERNETES_SERVICE_HOST is '{}': no host name, "
                                                  "IPv4 or IPv6 address",
                                                  service_host));
  }
  const std::optional<uint16_t> port = ParsePort(service_port);
  if (!port) {
    return Error(
        ErrorCode::kInvalid,
        fmt::format("KUBERNETES_SERVICE_PORT is '{}': no port (1 to 65535)", service_port));
  }
  config.server.port = *port;
  config.token_file = folder + "/token";
  config.ca.path = folder + "/ca.crt";
  for (const std::string& path : {config.token_file, config.ca.path}) {
    Result<std::string> text = ReadFile(path, kMaxCredentialBytes);
    if (text && !text->empty()) continue;
    const Error why = text ? Error(ErrorCode::kInvalid, path + ": is empty") : text.error();
    return Error(why.code(), why.message() +
                                 "; the pod needs its service account's token: see "
                                 "automountServiceAccountToken");
  }
  Result<std::string> name = ReadFile(folder + "/namespace", kMaxCredentialBytes);
  if (name) config.default_namespace = *name;
  config.in_pod = true;
  return config;
}

}  // namespace firetower::k8s
