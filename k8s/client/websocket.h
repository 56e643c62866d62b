// SPDX-License-Identifier: Apache-2.0
// The frames of a WebSocket (RFC 6455), as a client has to write and read them. No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::k8s {

enum class WebSocketOpcode : uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10,
};

// A whole message in one frame, masked with four bytes of chance (§5.3).
std::string WebSocketFrame(WebSocketOpcode opcode, std::string_view payload, uint32_t mask);

// Returns the server's required answer to a client's key (§4.2.2).
std::string WebSocketAccept(std::string_view key);

struct WebSocketMessage {
  WebSocketOpcode opcode = WebSocketOpcode::kBinary;
  std::string payload;
};

// Bytes of the peer to messages; fragments are put together.
class WebSocketReader {
 public:
  static constexpr size_t kMaxMessageBytes = 4 << 20;

  void Feed(std::string_view bytes) { buffer_ += bytes; }
  // nullopt: more bytes are needed. kCorrupt: the peer breaks the rules; kExhausted: a message
  // beyond kMaxMessageBytes. After an error nothing more can be read.
  Result<std::optional<WebSocketMessage>> Next();

 private:
  struct Frame {
    bool last = false;
    WebSocketOpcode opcode = WebSocketOpcode::kBinary;
    std::string_view payload;  // of buffer_
    size_t bytes = 0;          // of it all
  };
  Result<std::optional<Frame>> NextFrame() const;

  std::string buffer_;
  std::optional<WebSocketMessage> begun_;  // of which fragments came
};

}  // namespace firetower::k8s
