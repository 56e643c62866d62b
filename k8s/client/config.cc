// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/config.h"

#include <fmt/core.h>

#include <charconv>

#include "base/file.h"

namespace firetower::k8s {
namespace {

std::optional<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

Result<std::string> PemSource::Read() const {
  if (!data.empty() || path.empty()) return data;
  return ReadFile(path, kMaxCredentialBytes);
}

Result<net::Url> ParseServerUrl(std::string_view text) {
  Result<net::Url> url = net::ParseUrl(text);
  if (url) return url;
  return Error(ErrorCode::kInvalid,
               fmt::format("server '{}': {}; write for example https://10.96.0.1:6443 or "
                           "https://[fd00::1]:6443",
                           text, url.error().message()));
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
  if (!net::IsHost(config.server.host)) {
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
