// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

extern "C" {
struct ssl_st;  // OpenSSL's SSL
}

namespace firetower::net {

// A TCP peer that sends what it is told, as slowly or wrongly as a test wants; over TLS for an
// https:// URL, whatever the certificate.
class RawClient {
 public:
  // `url` as HttpServer::url() gives it; IPv4 or IPv6.
  // `max_tls_version`: OpenSSL's number of the latest that it offers, 0 for all.
  explicit RawClient(std::string_view url, int max_tls_version = 0);
  bool connected() const { return static_cast<bool>(fd_); }
  // False when the server has closed.
  bool Send(std::string_view bytes);
  // Returns the bytes that arrive until the peer closes or is silent for `quiet_ms`.
  std::string Receive(int quiet_ms = 3000);
  // One response with its Content-Length.
  std::string ReceiveOne();
  // The protocol of a TLS connection: "TLSv1.3".
  std::string TlsVersion() const;
  // The common name of the server's certificate.
  std::string ServerName() const;

 private:
  struct Free {
    void operator()(ssl_st* session) const;
  };
  void BeginTls(int max_version);
  // At most `size` bytes; 0 when the peer has closed or was silent for so long.
  size_t ReadSome(char* out, size_t size, int quiet_ms);

  UniqueFd fd_;
  std::unique_ptr<ssl_st, Free> tls_;  // none: plain
};

// Connects, sends, and reads one response.
std::string Exchange(std::string_view url, std::string_view request);
// "GET <target>" on a connection of its own; the whole response.
std::string Fetch(std::string_view url, std::string_view target, std::string_view headers = "");
std::string BodyOf(std::string_view response);

}  // namespace firetower::net
