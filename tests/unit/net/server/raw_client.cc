// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/net/server/raw_client.h"

#include <fcntl.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <csignal>
#include <memory>

namespace firetower::net {
namespace {

// A handshake that never ends must not hang the test.
constexpr timeval kHandshake = {10, 0};

}  // namespace

void RawClient::Free::operator()(ssl_st* session) const { ::SSL_free(session); }

RawClient::RawClient(std::string_view url, int max_tls_version) {
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
  if (::connect(fd.get(), list->ai_addr, list->ai_addrlen) != 0) return;
  fd_ = std::move(fd);
  if (url.starts_with("https:")) BeginTls(max_tls_version);
}

void RawClient::BeginTls(int max_version) {
  // OpenSSL writes without MSG_NOSIGNAL.
  std::signal(SIGPIPE, SIG_IGN);
  SSL_CTX* context = ::SSL_CTX_new(::TLS_client_method());
  ::SSL_CTX_set_max_proto_version(context, max_version);
  // Else OpenSSL itself would not offer what is too old.
  ::SSL_CTX_set_security_level(context, 0);
  tls_.reset(::SSL_new(context));
  ::SSL_CTX_free(context);
  ::SSL_set_fd(tls_.get(), fd_.get());
  (void)::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &kHandshake, sizeof(kHandshake));
  if (::SSL_connect(tls_.get()) != 1) {
    tls_.reset();
    fd_.reset();
    return;
  }
  // Tickets of TLS 1.3 are readable, and no data.
  (void)::fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
}

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = 0;
    if (tls_) {
      n = ::SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()));
      pollfd writable{fd_.get(), POLLOUT, 0};
      if (n <= 0 && ::SSL_get_error(tls_.get(), static_cast<int>(n)) == SSL_ERROR_WANT_WRITE &&
          ::poll(&writable, 1, 5000) > 0)
        continue;
    } else {
      n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

size_t RawClient::ReadSome(char* out, size_t size, int quiet_ms) {
  pollfd readable{fd_.get(), POLLIN, 0};
  for (;;) {
    const bool has_more = tls_ && ::SSL_pending(tls_.get()) > 0;
    if (!has_more && ::poll(&readable, 1, quiet_ms) <= 0) return 0;
    const ssize_t n = tls_ ? ::SSL_read(tls_.get(), out, static_cast<int>(size))
                           : ::recv(fd_.get(), out, size, 0);
    if (n > 0) return static_cast<size_t>(n);
    if (!tls_ || ::SSL_get_error(tls_.get(), static_cast<int>(n)) != SSL_ERROR_WANT_READ) return 0;
  }
}

std::string RawClient::Receive(int quiet_ms) {
  std::string out;
  char buffer[4096];
  while (const size_t n = ReadSome(buffer, sizeof(buffer), quiet_ms)) out.append(buffer, n);
  return out;
}

std::string RawClient::ReceiveOne() {
  std::string out;
  std::string buffer(64 << 10, '\0');
  size_t want = 0;  // Unknown until the head is there, which is read byte by byte.
  while (want == 0 || out.size() < want) {
    const size_t most = want == 0 ? 1 : std::min(buffer.size(), want - out.size());
    const size_t n = ReadSome(buffer.data(), most, 5000);
    if (n == 0) break;
    out.append(buffer, 0, n);
    if (want != 0 || !out.ends_with("\r\n\r\n")) continue;
    size_t length = out.find("Content-Length: ");
    want = out.size() + (length == std::string::npos ? 0 : std::stoul(out.substr(length + 16)));
  }
  return out;
}

std::string RawClient::TlsVersion() const {
  return tls_ && fd_ ? ::SSL_get_version(tls_.get()) : "";
}

std::string RawClient::ServerName() const {
  char name[256] = "";
  X509* certificate = tls_ ? ::SSL_get1_peer_certificate(tls_.get()) : nullptr;
  if (certificate == nullptr) return "";
  ::X509_NAME_get_text_by_NID(::X509_get_subject_name(certificate), NID_commonName, name,
                              sizeof(name));
  ::X509_free(certificate);
  return name;
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
