// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "k8s/client/websocket.h"
#include "net/client/stream.h"
#include "net/url.h"

namespace firetower::k8s {

struct PodPortTarget {
  std::string namespace_name;
  std::string pod;
  uint16_t port = 0;
};

// A connection to a port of a pod through the API server, which hands it to the pod's kubelet
// (pods/portforward). One connection carries one TCP stream: the kubelet's channels 0 (data) and 1
// (errors) of protocol v4.channel.k8s.io, each beginning with the port in two bytes
// (kubernetes, pkg/kubelet/server/portforward/websocket.go).
class PodPort final : public net::ByteStream {
 public:
  // `connection` to `server`, fresh. kPermission: the server refuses, for want of `get` or `create`
  // of pods/portforward; kNotFound: no such pod; else kUnavailable with what it says.
  static Result<std::unique_ptr<PodPort>> Open(std::unique_ptr<net::ByteStream> connection,
                                               const net::Url& server,
                                               std::string_view bearer_token,
                                               const PodPortTarget& target, int64_t timeout_ns);

  // An error of the kubelet's, such as that nothing listens there, is kUnavailable.
  Result<size_t> Read(char* out, size_t size, int64_t timeout_ns) override;
  Status Write(std::string_view data, int64_t timeout_ns) override;
  int fd() const override { return connection_->fd(); }

 private:
  explicit PodPort(std::unique_ptr<net::ByteStream> connection)
      : connection_(std::move(connection)) {}
  Status Upgrade(const net::Url& server, std::string_view bearer_token, const PodPortTarget& target,
                 int64_t timeout_ns);
  Status CheckHead(std::string_view head, std::string_view expected_accept) const;
  Status Send(WebSocketOpcode opcode, std::string_view payload, int64_t timeout_ns);
  // Takes one message. False at the end of the stream.
  Result<bool> Take(WebSocketMessage message, int64_t timeout_ns);

  const std::unique_ptr<net::ByteStream> connection_;
  WebSocketReader reader_;
  std::string data_;    // not read yet
  bool began_[2] = {};  // the channel's port has come
  bool ended_ = false;
};

}  // namespace firetower::k8s
