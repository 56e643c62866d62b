// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace firetower::net {

struct ListenAddress {
  std::string host;  // without brackets; "" is every address
  uint16_t port = 0;
};

// "127.0.0.1:7070", "[::1]:7070", "localhost:0", ":7070".
Result<ListenAddress> ParseListenAddress(std::string_view text);

struct Listener {
  UniqueFd fd;          // non-blocking
  std::string address;  // as bound, with the port the kernel chose: "127.0.0.1:41234"
};

// Binds and listens. The error names the address and what to do about it.
Result<Listener> Listen(std::string_view text);

}  // namespace firetower::net
