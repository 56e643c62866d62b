// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/net/server/raw_client.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

namespace firetower::net {

RawClient::RawClient(std::string_view url) {
  std::string address(url.substr(url.find("//") + 2));
  std::string host = address.substr(0, address.rfind(':'));
  std::string port = address.substr(address.rfind(':') + 1);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &list) != 0) return;
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  UniqueFd fd(::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), list->ai_addr, list->ai_addrlen) == 0) fd_ = std::move(fd);
}

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

std::string RawClient::Receive(int quiet_ms) {
  std::string out;
  char buffer[4096];
  pollfd readable{fd_.get(), POLLIN, 0};
  while (::poll(&readable, 1, quiet_ms) > 0) {
    ssize_t n = ::recv(fd_.get(), buffer, sizeof(buffer), 0);
    if (n <= 0) break;
    out.append(buffer, static_cast<size_t>(n));
  }
  return out;
}

std::string RawClient::ReceiveOne() {
  std::string out;
  std::string buffer(64 << 10, '\0');
  pollfd readable{fd_.get(), POLLIN, 0};
  size_t want = 0;  // Unknown until the head is there, which is read byte by byte.
  while ((want == 0 || out.size() < want) && ::poll(&readable, 1, 5000) > 0) {
    size_t most = want == 0 ? 1 : std::min(buffer.size(), want - out.size());
    ssize_t n = ::recv(fd_.get(), buffer.data(), most, 0);
    if (n <= 0) break;
    out.append(buffer, 0, static_cast<size_t>(n));
    if (want != 0 || !out.ends_with("\r\n\r\n")) continue;
    size_t length = out.find("Content-Length: ");
    want = out.size() + (length == std::string::npos ? 0 : std::stoul(out.substr(length + 16)));
  }
  return out;
}

std::string Exchange(std::string_view url, std::string_view request) {
  RawClient client(url);
  if (!client.Send(request)) return "";
  return client.ReceiveOne();
}

std::string Fetch(std::string_view url, std::string_view target, std::string_view headers) {
  std::string request = "GET " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n";
  return Exchange(url, request + std::string(headers) + "\r\n");
}

std::string BodyOf(std::string_view response) {
  size_t end = response.find("\r\n\r\n");
  return end == std::string_view::npos ? "" : std::string(response.substr(end + 4));
}

}  // namespace firetower::net
