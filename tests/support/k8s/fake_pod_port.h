// SPDX-License-Identifier: Apache-2.0
// The other side of k8s/client/pod_port.h: what an API server and a kubelet say.
#pragma once

#include <string>
#include <string_view>

#include "tests/support/k8s/fake_http_server.h"

namespace firetower::k8s {

// The answer to the request that asks for a port.
std::string AcceptPodPort(std::string_view request);
// A message on a channel: 0 is data, 1 errors. The first of each is the port, in two bytes.
std::string PodPortMessage(char channel, std::string_view bytes);

// A port of a pod on a connection whose request for it was just read.
class FakePodPort {
 public:
  // Accepts it.
  FakePodPort(FakePeer& peer, std::string_view request);

  // The next HTTP request, which has no body; "" when the client is gone.
  std::string ReadRequest();
  bool Write(std::string_view bytes);
  // Sends the kubelet's error for a pod that does not answer.
  bool Fail(std::string_view message);

 private:
  // The payload of the client's next frame without its channel, "" at the end.
  std::string ReadFrame();

  FakePeer& peer_;
  std::string bytes_;  // not taken apart yet
};

}  // namespace firetower::k8s
