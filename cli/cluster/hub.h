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

// The label of the hub's pods and the name of their port, as in k8s/manifests/hub.yaml.
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

// Returns the pods that run and are not terminating: ready ones first, else in the server's order.
std::vector<HubPod> HubPodsOf(const std::vector<k8s::Node>& pods);

// Makes a transport to a hub's port through the API server. It looks for a hub at the first
// request, and again after its connection is lost; of several hubs the first one that answers is
// kept. `bearer_token` is sent to the hub. If it is empty, the kubeconfig user's token is sent, and
// there must be one.
std::unique_ptr<HttpTransport> OpenHub(std::shared_ptr<KubeClient> cluster,
                                       std::string namespace_name, std::string bearer_token,
                                       int64_t timeout_ns, size_t max_reply_bytes = kMaxReplyBytes);

}  // namespace firetower::cli
