// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace firetower::net {

// A TCP peer that sends what it is told, as slowly or wrongly as a test wants.
class RawClient {
 public:
  // `url` as HttpServer::url() gives it; IPv4 or IPv6.
  explicit RawClient(std::string_view url);
  bool connected() const { return static_cast<bool>(fd_); }
  // False when the server has closed.
  bool Send(std::string_view bytes);
  // What arrives until the peer closes or is silent for `quiet_ms`.
  std::string Receive(int quiet_ms = 3000);
  // One response with its Content-Length.
  std::string ReceiveOne();

 private:
  UniqueFd fd_;
};

// Connects, sends, and reads one response.
std::string Exchange(std::string_view url, std::string_view request);
// "GET <target>" on a connection of its own; the whole response.
std::string Fetch(std::string_view url, std::string_view target, std::string_view headers = "");
std::string BodyOf(std::string_view response);

}  // namespace firetower::net
