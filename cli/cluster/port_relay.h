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

// Thread that carries bytes between a stream and the first connection of this process to an
// abstract socket (unix(7)), so that libcurl can speak HTTP over the stream. It ends with either of
// them; nothing is kept beyond a buffer.
class PortRelay {
 public:
  static Result<std::unique_ptr<PortRelay>> Start(std::unique_ptr<net::ByteStream> stream);
  ~PortRelay() { (void)Stop(); }
  PortRelay(const PortRelay&) = delete;
  PortRelay& operator=(const PortRelay&) = delete;

  const std::string& socket_name() const { return socket_name_; }
  // Ends it. The error of the stream, if it had one.
  Status Stop();

 private:
  PortRelay() = default;
  void Run(WakeFd& wake);
  // Waits for the connection. Processes of others are turned away. None when it is to end.
  UniqueFd Accept(const WakeFd& wake) const;
  // Passes on what the stream has. False when it has ended, or nobody takes it.
  bool Forward(int socket, const WakeFd& wake);

  std::string socket_name_;
  UniqueFd listener_;  // the thread's, as the next two are until it ends
  std::unique_ptr<net::ByteStream> stream_;
  Status status_ = OkStatus();
  NamedThread thread_;
};

}  // namespace firetower::cli
