// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/thread.h"
#include "base/unique_fd.h"
#include "net/client/stream.h"

namespace firetower::cli {

// Thread that carries bytes between a stream and the first connection of this process to a unix
// socket in a folder of its own, so that libcurl can speak HTTP over the stream. It ends with
// either of them; nothing is kept beyond a buffer. The socket is no abstract one: libcurl 7.88
// connects to such a one anew for each request.
class PortRelay {
 public:
  static Result<std::unique_ptr<PortRelay>> Start(std::unique_ptr<net::ByteStream> stream);
  ~PortRelay();
  PortRelay(const PortRelay&) = delete;
  PortRelay& operator=(const PortRelay&) = delete;

  const std::string& socket_path() const { return socket_path_; }
  // Ends it. The error of the stream, if it had one.
  Status Stop();

 private:
  PortRelay() = default;
  void Run(WakeFd& wake);
  // Waits for the connection. Processes of others are turned away. None when it is to end.
  UniqueFd Accept(const WakeFd& wake) const;
  // Passes on what the stream has. False when it has ended, or nobody takes it.
  bool Forward(int socket, const WakeFd& wake);

  std::string folder_;
  std::string socket_path_;
  UniqueFd listener_;  // the thread's, as the next two are until it ends
  std::unique_ptr<net::ByteStream> stream_;
  Status status_ = OkStatus();
  NamedThread thread_;
};

}  // namespace firetower::cli
