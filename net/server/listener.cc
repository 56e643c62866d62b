// SPDX-License-Identifier: Apache-2.0
#include "net/server/listener.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstring>
#include <memory>

namespace firetower::net {
namespace {

// Connections the kernel completes while the loop is busy.
constexpr int kBacklog = 128;

Error BadAddress(std::string_view text, std::string_view why) {
  return Error(ErrorCode::kInvalid,
               fmt::format("listen address '{}': {}; write HOST:PORT, for example 127.0.0.1:7070, "
                           "[::1]:7070 or :7070 for every address",
                           text, why));
}

std::string_view WhatToDo(int error) {
  switch (error) {
    case EADDRINUSE:
      return "another program listens there: stop it, or choose another port with --listen";
    case EADDRNOTAVAIL:
      return "this machine has no such address: use one that `ip address` shows, or 127.0.0.1";
    case EACCES:
      return "ports below 1024 need CAP_NET_BIND_SERVICE: choose a higher port with --listen";
    default:
      return "choose another address with --listen";
  }
}

Error ListenError(std::string_view text, int error) {
  Error out = ErrnoError(fmt::format("listen on {}", text), error);
  return Error(out.code(), fmt::format("{}; {}", out.message(), WhatToDo(error)), error);
}

std::string BoundAddress(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  char host[NI_MAXHOST] = "";
  char port[NI_MAXSERV] = "";
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::getsockname(fd, generic, &size) != 0 ||
      ::getnameinfo(generic, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?";
  }
  return address.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host, port)
                                       : fmt::format("{}:{}", host, port);
}

// -1 with errno set when this address cannot be bound.
UniqueFd BindOne(const addrinfo& info) {
  UniqueFd fd(
      ::socket(info.ai_family, info.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, info.ai_protocol));
  if (!fd) return fd;
  int on = 1;
  // A restarted daemon must get its port back while old connections are in TIME_WAIT.
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  int off = 0;
  if (info.ai_family == AF_INET6) {
    (void)::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  if (::bind(fd.get(), info.ai_addr, info.ai_addrlen) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    int error = errno;
    fd.reset();
    errno = error;
  }
  return fd;
}

}  // namespace

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return BadAddress(text, "the port is missing");
  std::string_view host = text.substr(0, colon);
  std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) return BadAddress(text, "the ']' is missing");
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return BadAddress(text, "an IPv6 address stands in brackets");
  }
  ListenAddress out;
  auto [rest, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (error != std::errc() || rest != port.data() + port.size()) {
    return BadAddress(text, "the port is not a number from 0 to 65535");
  }
  out.host = host;
  return out;
}

Result<Listener> Listen(std::string_view text) {
  ASSIGN_OR_RETURN(ListenAddress address, ParseListenAddress(text));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  std::string port = std::to_string(address.port);
  int failed = ::getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(), port.c_str(),
                             &hints, &list);
  if (failed != 0) {
    return BadAddress(text, fmt::format("host '{}': {}", address.host, ::gai_strerror(failed)));
  }
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  // For "every address" the IPv6 wildcard is preferred: it takes IPv4 connections as well.
  int error = EADDRNOTAVAIL;
  for (int pass = 0; pass < 2; ++pass) {
    for (const addrinfo* info = list; info != nullptr; info = info->ai_next) {
      if (address.host.empty() && (info->ai_family == AF_INET6) != (pass == 0)) continue;
      Listener listener;
      listener.fd = BindOne(*info);
      if (!listener.fd) {
        error = errno;
        continue;
      }
      listener.address = BoundAddress(listener.fd.get());
      return listener;
    }
    if (!address.host.empty()) break;
  }
  return ListenError(text, error);
}

}  // namespace firetower::net
