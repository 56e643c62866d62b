// SPDX-License-Identifier: Apache-2.0
// The address of an API server and the identity to use, from the files that Kubernetes mounts into
// a pod, or from a kubeconfig. Nothing here connects. A secret that can be read again from a file
// is not kept: tokens, CA bundles and client certificates change, so they stay paths until they are
// needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/url.h"

namespace firetower::k8s {

// Folder of a pod's credentials (Kubernetes, "Accessing the Kubernetes API from a Pod").
inline constexpr std::string_view kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";
// Tokens, certificates and kubeconfigs are smaller than this.
inline constexpr size_t kMaxCredentialBytes = 1 << 20;

// PEM text, given inline or as a file that may be replaced at any time; neither when both are
// empty.
struct PemSource {
  std::string data;
  std::string path;

  bool empty() const { return data.empty() && path.empty(); }
  // The text of today. kNotFound or kPermission name the file.
  Result<std::string> Read() const;
};

// A program that prints an ExecCredential (Kubernetes, "client-go credential plugins").
struct ExecPlugin {
  std::string command;  // found on PATH, or relative to the kubeconfig's folder when it has a slash
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
  std::string install_hint;                                      // shown when it is not there
  bool provide_cluster_info = false;
};

struct ClientConfig {
  net::Url server;
  std::string tls_server_name;  // whose certificate to expect; the host's when empty
  bool insecure_skip_tls_verify = false;
  std::string proxy_url;  // through which the server is reached; as the environment says when empty
  PemSource ca;           // the only CAs trusted; the system's when empty
  PemSource client_certificate;
  PemSource client_key;
  // At most one of these is used, in this order: what client-go does.
  std::optional<ExecPlugin> exec;
  std::string token_file;
  std::string token;
  std::string default_namespace;
  bool in_pod = false;  // the access of the pod that this runs in, of that namespace

  // "https://host:port/base", for messages.
  std::string ServerText() const { return server.Text(); }
};

// Parses it as net::ParseUrl does; the error shows how to write one.
Result<net::Url> ParseServerUrl(std::string_view text);

// From KUBERNETES_SERVICE_HOST and _PORT, as the caller read them, and `folder` with token, ca.crt
// and namespace. kUnavailable outside a pod.
Result<ClientConfig> InClusterConfig(
    std::string_view service_host, std::string_view service_port,
    const std::string& folder = std::string(kServiceAccountFolder));

// From one kubeconfig file; `context` picks one that is not the current one. Errors name the file,
// line and field. Refused: auth-provider, user name with password, impersonation.
Result<ClientConfig> LoadKubeconfig(const std::string& path, std::string_view context = "");

// Parses a kubeconfig's text; relative paths in it are relative to `folder`.
Result<ClientConfig> ParseKubeconfig(std::string_view text, const std::string& folder,
                                     std::string_view context = "");

}  // namespace firetower::k8s
