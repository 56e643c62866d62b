// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/connection.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <climits>

#include "base/clock.h"
#include "base/units.h"
#include "k8s/client/tls.h"

namespace firetower::k8s {
namespace {

// A silent peer is asked after 20 s, then every 10 s, and given up after four unanswered probes;
// bytes that nobody acknowledges give it up after a minute (tcp(7)).
constexpr int kKeepAliveIdleSeconds = 20;
constexpr int kKeepAliveIntervalSeconds = 10;
constexpr int kKeepAliveProbes = 4;
constexpr int kUnacknowledgedMs = 60000;

int64_t NowNs() { return Clock::System().MonotonicNs(); }

void SetOptions(int socket) {
  const auto set = [socket](int level, int name, int value) {
    ::setsockopt(socket, level, name, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMs);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> Resolve(const ServerUrl& server) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int failed =
      ::getaddrinfo(server.host.c_str(), std::to_string(server.port).c_str(), &hints, &list);
  if (failed != 0) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("host '{}': {}", server.host, ::gai_strerror(failed)));
  }
  return Addresses(list);
}

int PollMs(int64_t deadline_ns) {
  const int64_t left_ms = (deadline_ns - NowNs() + kNsPerMs - 1) / kNsPerMs;
  return static_cast<int>(std::clamp<int64_t>(left_ms, 0, INT_MAX));
}

}  // namespace

struct Connection::Tls {
  explicit Tls(SSL* owned) : session(owned) {}
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  ~Tls() { ::SSL_free(session); }
  SSL* session;
};

Connection::Connection(UniqueFd socket, const WakeFd& cancel)
    : socket_(std::move(socket)), cancel_(cancel) {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::Open(const ClientConfig& config,
                                                     const std::string& ca_pem,
                                                     const Identity& identity, const WakeFd& cancel,
                                                     int64_t timeout_ns) {
  const Deadline deadline = {NowNs() + timeout_ns, timeout_ns};
  ASSIGN_OR_RETURN(const Addresses addresses, Resolve(config.server));
  Error why(ErrorCode::kUnavailable, "no address");
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    UniqueFd socket(::socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) return ErrnoError("socket");
    SetOptions(socket.get());
    std::unique_ptr<Connection> connection(new Connection(std::move(socket), cancel));
    const int fd = connection->socket_.get();
    Status connected = OkStatus();
    if (::connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
      connected = errno == EINPROGRESS ? connection->Wait(Ready::kWrite, deadline)
                                       : Status(ErrnoError("connect"));
      int failed = 0;
      socklen_t size = sizeof(failed);
      if (connected && ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) == 0 && failed != 0)
        connected = ErrnoError("connect", failed);
    }
    if (connected && config.server.tls)
      connected = connection->Handshake(config, ca_pem, identity, deadline);
    if (connected) return connection;
    why = std::move(connected).error();
  }
  // A server that is not there is expected back.
  const ErrorCode code = why.code() == ErrorCode::kInvalid || why.code() == ErrorCode::kPermission
                             ? why.code()
                             : ErrorCode::kUnavailable;
  return Error(code, why.message(), why.sys_errno());
}

Status Connection::Handshake(const ClientConfig& config, const std::string& ca_pem,
                             const Identity& identity, const Deadline& deadline) {
  ASSIGN_OR_RETURN(SSL * session, CreateTlsSession(config, ca_pem, identity, socket_.get()));
  tls_ = std::make_unique<Tls>(session);
  for (;;) {
    errno = 0;
    const int result = ::SSL_connect(session);
    if (result == 1) return OkStatus();
    const long verified = ::SSL_get_verify_result(session);
    if (verified != X509_V_OK && !config.insecure_skip_tls_verify) {
      (void)TakeTlsReason();
      return Error(ErrorCode::kPermission,
                   fmt::format("the server's certificate is not trusted: {}; see the certificate "
                               "authority and the server's name",
                               ::X509_verify_cert_error_string(verified)));
    }
    RETURN_IF_ERROR(WaitForTls(result, "TLS handshake", deadline));
  }
}

Status Connection::Wait(Ready ready, const Deadline& deadline) {
  std::array<pollfd, 2> fds = {
      pollfd{socket_.get(), static_cast<short>(ready == Ready::kRead ? POLLIN : POLLOUT), 0},
      pollfd{cancel_.fd(), POLLIN, 0}};
  for (;;) {
    const int count = ::poll(fds.data(), fds.size(), PollMs(deadline.at_ns));
    if (count > 0 && fds[1].revents != 0) return Error(ErrorCode::kUnavailable, "cancelled");
    if (count > 0) return OkStatus();
    if (count == 0) {
      return Error(ErrorCode::kUnavailable,
                   fmt::format("no answer within {}", FormatDuration(deadline.limit_ns)),
                   ETIMEDOUT);
    }
    if (errno != EINTR) return ErrnoError("poll");
  }
}

Status Connection::WaitForTls(int result, std::string_view doing, const Deadline& deadline) {
  switch (::SSL_get_error(tls_->session, result)) {
    case SSL_ERROR_WANT_READ:
      return Wait(Ready::kRead, deadline);
    case SSL_ERROR_WANT_WRITE:
      return Wait(Ready::kWrite, deadline);
    case SSL_ERROR_SYSCALL:
      (void)TakeTlsReason();
      if (errno != 0) return ErrnoError(doing);
      return Error(ErrorCode::kCorrupt, std::string(doing) + ": the connection was cut");
    default:
      return Error(ErrorCode::kCorrupt, fmt::format("{}: {}", doing, TakeTlsReason()));
  }
}

Result<size_t> Connection::Read(char* out, size_t size, int64_t timeout_ns) {
  const Deadline deadline = {NowNs() + timeout_ns, timeout_ns};
  for (;;) {
    if (tls_ == nullptr) {
      RETURN_IF_ERROR(Wait(Ready::kRead, deadline));
      const ssize_t n = ::recv(socket_.get(), out, size, 0);
      if (n >= 0) return static_cast<size_t>(n);
      if (errno != EAGAIN && errno != EINTR) return ErrnoError("read");
      continue;
    }
    errno = 0;
    const int n = ::SSL_read(tls_->session, out, static_cast<int>(std::min<size_t>(size, INT_MAX)));
    if (n > 0) return static_cast<size_t>(n);
    if (::SSL_get_error(tls_->session, n) == SSL_ERROR_ZERO_RETURN) return size_t{0};
    RETURN_IF_ERROR(WaitForTls(n, "read", deadline));
  }
}

Status Connection::Write(std::string_view data, int64_t timeout_ns) {
  const Deadline deadline = {NowNs() + timeout_ns, timeout_ns};
  while (!data.empty()) {
    if (tls_ == nullptr) {
      RETURN_IF_ERROR(Wait(Ready::kWrite, deadline));
      const ssize_t n = ::send(socket_.get(), data.data(), data.size(), MSG_NOSIGNAL);
      if (n > 0) data.remove_prefix(static_cast<size_t>(n));
      if (n < 0 && errno != EAGAIN && errno != EINTR) return ErrnoError("write");
      continue;
    }
    errno = 0;
    const int n = ::SSL_write(tls_->session, data.data(),
                              static_cast<int>(std::min<size_t>(data.size(), INT_MAX)));
    if (n > 0) {
      data.remove_prefix(static_cast<size_t>(n));
    } else {
      RETURN_IF_ERROR(WaitForTls(n, "write", deadline));
    }
  }
  return OkStatus();
}

}  // namespace firetower::k8s
