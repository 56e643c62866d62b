// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/websocket.h"

#include <fmt/core.h>
#include <openssl/sha.h>

#include "base/text/base64.h"

namespace firetower::k8s {
namespace {

// §1.3
constexpr std::string_view kAcceptGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr uint8_t kLastFragment = 0x80;
constexpr uint8_t kReserved = 0x70;
constexpr uint8_t kMasked = 0x80;
constexpr uint8_t kLength16 = 126;
constexpr uint8_t kLength64 = 127;

uint8_t ByteAt(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

bool IsControl(WebSocketOpcode opcode) { return static_cast<uint8_t>(opcode) >= 8; }

bool IsKnown(uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

Error Broken(std::string_view how) {
  return {ErrorCode::kCorrupt, fmt::format("no WebSocket of RFC 6455: {}", how)};
}

}  // namespace

std::string WebSocketFrame(WebSocketOpcode opcode, std::string_view payload, uint32_t mask) {
  std::string frame;
  frame.reserve(payload.size() + 14);
  frame += static_cast<char>(kLastFragment | static_cast<uint8_t>(opcode));
  const auto put = [&](uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
      frame += static_cast<char>(value >> shift & 0xff);
  };
  if (payload.size() < kLength16) {
    put(kMasked | payload.size(), 1);
  } else if (payload.size() <= 0xffff) {
    put(kMasked | kLength16, 1);
    put(payload.size(), 2);
  } else {
    put(kMasked | kLength64, 1);
    put(payload.size(), 8);
  }
  put(mask, 4);
  for (size_t i = 0; i < payload.size(); ++i)
    frame += static_cast<char>(ByteAt(payload, i) ^ (mask >> (24 - 8 * (i % 4)) & 0xff));
  return frame;
}

std::string WebSocketAccept(std::string_view key) {
  const std::string text = std::string(key).append(kAcceptGuid);
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return EncodeBase64({reinterpret_cast<const char*>(digest), sizeof digest});
}

Result<std::optional<WebSocketReader::Frame>> WebSocketReader::NextFrame() const {
  const std::string_view bytes = buffer_;
  if (bytes.size() < 2) return std::optional<Frame>();
  const uint8_t head = ByteAt(bytes, 0), second = ByteAt(bytes, 1);
  if ((head & kReserved) != 0) return Broken("reserved bits are set");
  if (!IsKnown(head & 0x0f)) return Broken(fmt::format("opcode {}", head & 0x0f));
  if ((second & kMasked) != 0) return Broken("a server's frame is masked");
  Frame frame;
  frame.last = (head & kLastFragment) != 0;
  frame.opcode = static_cast<WebSocketOpcode>(head & 0x0f);
  uint64_t length = second;
  const size_t length_bytes = second == kLength16 ? 2 : second == kLength64 ? 8 : 0;
  if (IsControl(frame.opcode) && (length_bytes > 0 || !frame.last))
    return Broken("a control frame that is long or in parts");
  const size_t begin = 2 + length_bytes;
  if (bytes.size() < begin) return std::optional<Frame>();
  if (length_bytes > 0) {
    length = 0;
    for (size_t i = 2; i < begin; ++i) length = length << 8 | ByteAt(bytes, i);
  }
  if (length > kMaxMessageBytes) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("a frame of {} bytes, at most {}", length, kMaxMessageBytes));
  }
  if (bytes.size() - begin < length) return std::optional<Frame>();
  frame.payload = bytes.substr(begin, length);
  frame.bytes = begin + length;
  return std::optional<Frame>(frame);
}

Result<std::optional<WebSocketMessage>> WebSocketReader::Next() {
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<Frame> frame, NextFrame());
    if (!frame) return std::optional<WebSocketMessage>();
    const bool continues = frame->opcode == WebSocketOpcode::kContinuation;
    if (IsControl(frame->opcode)) {
      WebSocketMessage control{frame->opcode, std::string(frame->payload)};
      buffer_.erase(0, frame->bytes);
      return std::optional<WebSocketMessage>(std::move(control));
    }
    if (continues != begun_.has_value())
      return Broken(continues ? "a fragment of nothing" : "a message within another");
    if (!continues) begun_.emplace(WebSocketMessage{frame->opcode, ""});
    if (begun_->payload.size() + frame->payload.size() > kMaxMessageBytes)
      return Error(ErrorCode::kExhausted, "a message of too many bytes");
    begun_->payload += frame->payload;
    const bool last = frame->last;
    buffer_.erase(0, frame->bytes);
    if (!last) continue;
    WebSocketMessage whole = *std::move(begun_);
    begun_.reset();
    return std::optional<WebSocketMessage>(std::move(whole));
  }
}

}  // namespace firetower::k8s
