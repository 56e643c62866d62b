// SPDX-License-Identifier: Apache-2.0
// A server on a loopback port that answers as a test says, with every fault a peer can have.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "tests/support/k8s/certificates.h"

struct ssl_st;
struct ssl_ctx_st;

namespace firetower::k8s {

// One connection, seen from the server.
class FakePeer {
 public:
  FakePeer(UniqueFd socket, ssl_st* tls);
  ~FakePeer();
  FakePeer(const FakePeer&) = delete;
  FakePeer& operator=(const FakePeer&) = delete;

  // The head and body of the next request, "" when the peer is gone.
  std::string ReadRequest();
  // Whatever comes next, "" when the peer is gone.
  std::string ReadSome();
  bool Write(std::string_view bytes);
  // "HTTP/1.1 200 OK" with a Content-Length.
  bool Reply(std::string_view status, std::string_view body, std::string_view headers = "");
  // Until the client closes or the server is destroyed.
  void AwaitClose();
  // The same within `timeout_ms`; false when it is still there.
  bool AwaitCloseFor(int timeout_ms);
  // Makes the next close of this connection a reset.
  void ResetOnClose();
  // The subject of the client's certificate, "" without one.
  std::string ClientName() const;

 private:
  UniqueFd socket_;
  ssl_st* tls_;
};

// Handles one connection after the other on a thread of its own, or each on one of its own.
// `handler` gets each request and says whether the connection stays open.
class FakeHttpServer {
 public:
  using Handler = std::function<bool(FakePeer&, const std::string& request)>;

  struct Options {
    bool ipv6 = false;
    const TestCertificate* certificate = nullptr;       // TLS with it
    const TestCertificate* client_authority = nullptr;  // and client certificates of that one
    bool concurrent = false;                            // several connections at once
  };

  FakeHttpServer(Options options, Handler handler);
  explicit FakeHttpServer(Handler handler) : FakeHttpServer(Options{}, std::move(handler)) {}
  ~FakeHttpServer();

  uint16_t port() const { return port_; }
  int connections() const { return connections_; }

 private:
  void Run();
  void Serve(UniqueFd socket);
  // Before its descriptor is closed, and perhaps another's.
  void Forget(int fd);

  const Handler handler_;
  const bool concurrent_;
  ssl_ctx_st* context_ = nullptr;
  UniqueFd listener_;
  uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;    // of the next two: connections have threads of their own
  std::set<int> open_;  // to be shut down when this ends
  bool stopped_ = false;
  std::vector<std::thread> others_;  // thread_'s, then the destructor's
  std::thread thread_;
};

}  // namespace firetower::k8s
