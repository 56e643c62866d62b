// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/thread.h"
#include "k8s/client/byte_stream.h"
#include "k8s/client/config.h"
#include "k8s/client/credentials.h"

namespace firetower::k8s {

// One TCP connection to the API server, with TLS 1.2 or later over it. Every wait ends at its
// deadline, and at once when `cancel` is notified; the notification stays for the next wait.
//
// A peer that vanished without a word (a load balancer that forgets) is found by TCP keep-alive
// within a minute, also while a watch waits for its next event.
//
// Belongs to one thread; only the notification comes from others. Resolving a host name is the one
// wait that cannot be cut short: in a cluster the host is an address.
class Connection final : public ByteStream {
 public:
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // A wait that its limit ended is an ETIMEDOUT that names the limit, of all three.
  //
  // `ca_pem` are the only CAs trusted (the system's when empty). Errors say what failed: the name,
  // the connection, or TLS with OpenSSL's reason.
  static Result<std::unique_ptr<Connection>> Open(const ClientConfig& config,
                                                  const std::string& ca_pem,
                                                  const Identity& identity, const WakeFd& cancel,
                                                  int64_t timeout_ns);

  // A TLS stream that ends without close_notify is kCorrupt: it may have been cut.
  Result<size_t> Read(char* out, size_t size, int64_t timeout_ns) override;
  Status Write(std::string_view data, int64_t timeout_ns) override;

 private:
  struct Tls;
  enum class Ready { kRead, kWrite };
  struct Deadline {
    int64_t at_ns;
    int64_t limit_ns;  // which it was: a person is told
  };

  Connection(UniqueFd socket, const WakeFd& cancel);
  Status Handshake(const ClientConfig& config, const std::string& ca_pem, const Identity& identity,
                   const Deadline& deadline);
  // Until the socket is ready, the deadline has come or somebody cancels.
  Status Wait(Ready ready, const Deadline& deadline);
  // After an OpenSSL call that returned `result`: waits for what it wants, or says why it failed.
  Status WaitForTls(int result, std::string_view doing, const Deadline& deadline);

  UniqueFd socket_;
  const WakeFd& cancel_;
  std::unique_ptr<Tls> tls_;
};

}  // namespace firetower::k8s
