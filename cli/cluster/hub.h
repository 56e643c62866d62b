// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cluster/kube_client.h"
#include "cli/http/transport.h"
#include "k8s/document/node.h"

namespace firetower::cli {

// As k8s/manifests/hub.yaml labels the hub's pods and calls their port.
inline constexpr std::string_view kHubLabel = "app.kubernetes.io/name=firetower-hub";
inline constexpr std::string_view kHubPortName = "http";
inline constexpr std::string_view kHubTlsPortName = "https";  // of a hub that speaks TLS
inline constexpr uint16_t kHubPort = 7080;                    // of a pod that does not name it

struct HubPod {
  std::string name;
  uint16_t port = kHubPort;
  bool ready = false;
  bool tls = false;

  bool operator==(const HubPod&) const = default;
};

// Those that run and are not on their way out, ready ones first, else in the server's order.
std::vector<HubPod> HubPodsOf(const std::vector<k8s::Node>& pods);

// To a hub's port through the API server. A hub is looked for at the first question, and again when
// its connection is gone; of several the first that answers stays. `bearer_token` is shown to it,
// when empty that of the kubeconfig's user; there must be one.
std::unique_ptr<HttpTransport> OpenHub(std::shared_ptr<KubeClient> cluster,
                                       std::string namespace_name, std::string bearer_token,
                                       int64_t timeout_ns, size_t max_reply_bytes = kMaxReplyBytes);

}  // namespace firetower::cli
