// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "k8s/client/config.h"

// A kubeconfig: what is read names a server that can be written down and read again, and who asks
// is whole.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace k8s = firetower::k8s;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // One context an input, so that it is read once: the seeds have these.
  constexpr std::string_view kContexts[] = {"", "far", "cloud"};
  const auto config = k8s::ParseKubeconfig(text, "/home/x/.kube", kContexts[size % 3]);
  if (!config) {
    CHECK(!config.error().message().empty());
    return 0;
  }
  const std::string server = config->ServerText();
  // It ends up in a request's head: nothing there may end a line.
  CHECK(std::all_of(server.begin(), server.end(), [](char c) { return c > ' ' && c <= '~'; }));
  const auto again = k8s::ParseServerUrl(server);
  CHECK(again.has_value());
  CHECK(again->tls == config->server.tls && again->host == config->server.host);
  CHECK(again->port == config->server.port && again->path == config->server.path);
  CHECK(!config->insecure_skip_tls_verify || config->ca.empty());
  CHECK(config->client_certificate.empty() == config->client_key.empty());
  for (const std::string& path : {config->ca.path, config->client_key.path, config->token_file})
    CHECK(path.empty() || path.starts_with('/'));
  CHECK(!config->exec || !config->exec->command.empty());
  return 0;
}
