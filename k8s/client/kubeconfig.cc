// SPDX-License-Identifier: Apache-2.0
// Kubeconfig files: contexts name a cluster and a user (Kubernetes, "Organizing Cluster Access
// Using kubeconfig Files"; fields of client-go's clientcmd/api/v1).
#include <fmt/core.h>

#include <array>

#include "base/file.h"
#include "base/suggest.h"
#include "base/text/base64.h"
#include "k8s/client/config.h"
#include "k8s/document/yaml.h"

namespace firetower::k8s {
namespace {

constexpr std::string_view kExecApiVersion = "client.authentication.k8s.io/v1";

Error At(int line, std::string_view message) {
  return Error(ErrorCode::kInvalid, fmt::format("line {}: {}", line, message));
}

// A map's text under `key`, "" when it is absent or null.
Result<std::string> Text(const Node& map, std::string_view key) {
  const Node* value = map.Find(key);
  if (value == nullptr || value->kind == NodeKind::kNull) return std::string();
  if (value->kind == NodeKind::kMap || value->kind == NodeKind::kList)
    return At(value->line, fmt::format("{} must be a string, not {}", key, Describe(*value)));
  return value->text;
}

Result<bool> Flag(const Node& map, std::string_view key) {
  const Node* value = map.Find(key);
  if (value == nullptr || value->kind == NodeKind::kNull) return false;
  if (value->kind != NodeKind::kBool)
    return At(value->line, fmt::format("{} must be true or false, not {}", key, Describe(*value)));
  return value->text == "true";
}

// Returns the value under `member` of the entry with that name in the list called `list`.
Result<const Node*> Named(const Node& root, std::string_view list, std::string_view member,
                          std::string_view name) {
  static const Node kNone;
  const Node* entries = root.Find(list);
  if (entries == nullptr) entries = &kNone;
  std::vector<std::string_view> names;
  for (const Node& entry : entries->items) {
    const Node* entry_name = entry.Find("name");
    if (entry_name == nullptr) continue;
    names.push_back(entry_name->text);
    if (entry_name->text != name) continue;
    const Node* value = entry.Find(member);
    if (value != nullptr && value->kind == NodeKind::kMap) return value;
    return At(entry.line, fmt::format("the entry '{}' of {} has no {}", name, list, member));
  }
  return Error(ErrorCode::kNotFound,
               fmt::format("{} has no entry named '{}'{}", list, name, DidYouMean(name, names)));
}

std::string Beside(const std::string& folder, const std::string& path) {
  return path.empty() || path.starts_with('/') ? path : folder + "/" + path;
}

// `key`-data wins over `key`, as in client-go.
Result<PemSource> Pem(const Node& map, const std::string& key, const std::string& folder) {
  PemSource source;
  ASSIGN_OR_RETURN(const std::string encoded, Text(map, key + "-data"));
  if (!encoded.empty()) {
    std::optional<std::string> decoded = DecodeBase64(encoded);
    if (!decoded) return At(map.Find(key + "-data")->line, key + "-data is not base64");
    source.data = *std::move(decoded);
    return source;
  }
  ASSIGN_OR_RETURN(const std::string path, Text(map, key));
  source.path = Beside(folder, path);
  return source;
}

Status RefuseKeys(const Node& map, std::initializer_list<std::array<std::string_view, 2>> keys) {
  for (const auto& [key, instead] : keys) {
    const Node* value = map.Find(key);
    if (value == nullptr || value->kind == NodeKind::kNull) continue;
    if (value->text.empty() && value->entries.empty() && value->items.empty()) continue;
    return At(value->line, fmt::format("{} is not supported: {}", key, instead));
  }
  return OkStatus();
}

// The value is not repeated: it may hold a password.
Status CheckProxy(const Node& cluster, std::string_view url) {
  for (const std::string_view scheme : {"http://", "https://", "socks5://"}) {
    if (url.starts_with(scheme) && url.size() > scheme.size()) return OkStatus();
  }
  return At(cluster.Find("proxy-url")->line,
            "proxy-url must be http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT");
}

Status ReadCluster(const Node& cluster, const std::string& folder, ClientConfig& config) {
  ASSIGN_OR_RETURN(const std::string server, Text(cluster, "server"));
  if (server.empty()) return At(cluster.line, "the cluster has no server");
  Result<net::Url> url = ParseServerUrl(server);
  if (!url) return At(cluster.Find("server")->line, url.error().message());
  config.server = *std::move(url);
  ASSIGN_OR_RETURN(config.proxy_url, Text(cluster, "proxy-url"));
  if (!config.proxy_url.empty()) RETURN_IF_ERROR(CheckProxy(cluster, config.proxy_url));
  ASSIGN_OR_RETURN(config.tls_server_name, Text(cluster, "tls-server-name"));
  ASSIGN_OR_RETURN(config.insecure_skip_tls_verify, Flag(cluster, "insecure-skip-tls-verify"));
  ASSIGN_OR_RETURN(config.ca, Pem(cluster, "certificate-authority", folder));
  if (config.insecure_skip_tls_verify && !config.ca.empty()) {
    return At(cluster.line,
              "insecure-skip-tls-verify and certificate-authority exclude each other: remove one");
  }
  return OkStatus();
}

Result<ExecPlugin> ReadExec(const Node& exec, const std::string& folder) {
  ExecPlugin plugin;
  ASSIGN_OR_RETURN(const std::string version, Text(exec, "apiVersion"));
  if (version != kExecApiVersion) {
    return At(exec.line,
              fmt::format("exec.apiVersion is '{}', only {} is spoken: a newer version of "
                          "the plugin speaks it",
                          version, kExecApiVersion));
  }
  ASSIGN_OR_RETURN(plugin.command, Text(exec, "command"));
  if (plugin.command.empty()) return At(exec.line, "exec has no command");
  if (plugin.command.find('/') != std::string::npos)
    plugin.command = Beside(folder, std::move(plugin.command));
  ASSIGN_OR_RETURN(plugin.install_hint, Text(exec, "installHint"));
  ASSIGN_OR_RETURN(plugin.provide_cluster_info, Flag(exec, "provideClusterInfo"));
  ASSIGN_OR_RETURN(const std::string interactive, Text(exec, "interactiveMode"));
  if (interactive == "Always")
    return At(exec.line, "exec.interactiveMode is Always, but this program cannot ask a user");
  if (const Node* arguments = exec.Find("args"); arguments != nullptr) {
    for (const Node& argument : arguments->items) plugin.arguments.push_back(argument.text);
  }
  if (const Node* variables = exec.Find("env"); variables != nullptr) {
    for (const Node& variable : variables->items) {
      ASSIGN_OR_RETURN(std::string name, Text(variable, "name"));
      ASSIGN_OR_RETURN(std::string value, Text(variable, "value"));
      plugin.environment.emplace_back(std::move(name), std::move(value));
    }
  }
  return plugin;
}

Status ReadUser(const Node& user, const std::string& folder, ClientConfig& config) {
  RETURN_IF_ERROR(RefuseKeys(
      user, {{"auth-provider", "use exec, as kubectl has since 1.26"},
             {"username", "API servers take no passwords since 1.19: use a token or a certificate"},
             {"password", "API servers take no passwords since 1.19: use a token or a certificate"},
             {"as", "give the user itself the right"},
             {"as-groups", "give the user itself the right"},
             {"as-uid", "give the user itself the right"},
             {"as-user-extra", "give the user itself the right"}}));
  ASSIGN_OR_RETURN(config.token, Text(user, "token"));
  ASSIGN_OR_RETURN(std::string token_file, Text(user, "tokenFile"));
  config.token_file = Beside(folder, std::move(token_file));
  ASSIGN_OR_RETURN(config.client_certificate, Pem(user, "client-certificate", folder));
  ASSIGN_OR_RETURN(config.client_key, Pem(user, "client-key", folder));
  if (config.client_certificate.empty() != config.client_key.empty())
    return At(user.line, "client-certificate and client-key belong together: one is missing");
  const Node* exec = user.Find("exec");
  if (exec == nullptr || exec->kind != NodeKind::kMap) return OkStatus();
  ASSIGN_OR_RETURN(config.exec, ReadExec(*exec, folder));
  return OkStatus();
}

}  // namespace

Result<ClientConfig> ParseKubeconfig(std::string_view text, const std::string& folder,
                                     std::string_view context) {
  const std::vector<YamlDocument> documents = ParseYaml(text);
  if (documents.empty()) return Error(ErrorCode::kInvalid, "is empty");
  if (!documents[0].errors.empty())
    return At(documents[0].errors[0].line, documents[0].errors[0].message);
  const Node& root = documents[0].root;
  if (root.kind != NodeKind::kMap)
    return At(root.line, "must be a map with clusters, users and contexts");

  std::string name(context);
  if (name.empty()) {
    ASSIGN_OR_RETURN(name, Text(root, "current-context"));
  }
  if (name.empty())
    return Error(ErrorCode::kInvalid, "has no current-context: set one, or name a context");
  ASSIGN_OR_RETURN(const Node* chosen, Named(root, "contexts", "context", name));
  ASSIGN_OR_RETURN(const std::string cluster_name, Text(*chosen, "cluster"));
  ASSIGN_OR_RETURN(const std::string user_name, Text(*chosen, "user"));

  ClientConfig config;
  ASSIGN_OR_RETURN(config.default_namespace, Text(*chosen, "namespace"));
  ASSIGN_OR_RETURN(const Node* cluster, Named(root, "clusters", "cluster", cluster_name));
  RETURN_IF_ERROR(ReadCluster(*cluster, folder, config));
  if (user_name.empty()) return config;  // an anonymous one, as kubectl takes it
  ASSIGN_OR_RETURN(const Node* user, Named(root, "users", "user", user_name));
  RETURN_IF_ERROR(ReadUser(*user, folder, config));
  return config;
}

Result<ClientConfig> LoadKubeconfig(const std::string& path, std::string_view context) {
  Result<std::string> text = ReadFileOrPipe(path, kMaxCredentialBytes);
  if (!text) return std::move(text).error().Context("kubeconfig");
  const size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  if (slash == 0) folder = "/";
  return ParseKubeconfig(*text, folder, context).Context("kubeconfig " + path);
}

}  // namespace firetower::k8s
