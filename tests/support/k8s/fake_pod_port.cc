// SPDX-License-Identifier: Apache-2.0
#include "tests/support/k8s/fake_pod_port.h"

#include <algorithm>
#include <cstdint>

#include "k8s/client/websocket.h"

namespace firetower::k8s {
namespace {

constexpr std::string_view kPort("\x88\x1b", 2);  // 7048; nobody looks

uint64_t BigEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

std::string AcceptPodPort(std::string_view request) {
  constexpr std::string_view kKey = "Sec-WebSocket-Key: ";
  const std::string_view key = request.substr(request.find(kKey) + kKey.size());
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "sec-websocket-accept: " +
         WebSocketAccept(key.substr(0, key.find("\r\n"))) +
         "\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n";
}

// RFC 6455 §5.2: a whole binary message, not masked as it is the server's.
std::string PodPortMessage(char channel, std::string_view bytes) {
  const size_t size = bytes.size() + 1;
  std::string frame = "\x82";
  if (size < 126) {
    frame += static_cast<char>(size);
  } else {
    const int width = size <= UINT16_MAX ? 2 : 8;
    frame += width == 2 ? '\x7e' : '\x7f';
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8)
      frame += static_cast<char>((size >> shift) & 0xff);
  }
  return (frame + channel).append(bytes);
}

FakePodPort::FakePodPort(FakePeer& peer, std::string_view request) : peer_(peer) {
  peer_.Write(AcceptPodPort(request) + PodPortMessage(0, kPort) + PodPortMessage(1, kPort));
}

std::string FakePodPort::ReadFrame() {
  for (;;) {
    // The length, then four bytes of mask: all of the client's frames have one.
    const std::string_view bytes = bytes_;
    const size_t length = bytes.size() < 2 ? 0 : static_cast<size_t>(bytes[1] & 0x7f);
    const size_t wide = length == 126 ? 2 : length == 127 ? 8 : 0;
    const size_t head = 2 + wide + 4;
    if (bytes.size() >= head) {
      const uint64_t size = wide == 0 ? length : BigEndian(bytes.substr(2, wide));
      if (bytes.size() >= head + size) {
        std::string payload(bytes.substr(head, size));
        for (size_t i = 0; i < payload.size(); ++i)
          payload[i] = static_cast<char>(payload[i] ^ bytes[2 + wide + i % 4]);
        bytes_.erase(0, head + size);
        return payload.substr(std::min<size_t>(payload.size(), 1));
      }
    }
    const std::string more = peer_.ReadSome();
    if (more.empty()) return "";
    bytes_ += more;
  }
}

std::string FakePodPort::ReadRequest() {
  std::string request;
  while (!request.ends_with("\r\n\r\n")) {
    const std::string more = ReadFrame();
    if (more.empty()) return "";
    request += more;
  }
  return request;
}

bool FakePodPort::Write(std::string_view bytes) { return peer_.Write(PodPortMessage(0, bytes)); }

bool FakePodPort::Fail(std::string_view message) { return peer_.Write(PodPortMessage(1, message)); }

}  // namespace firetower::k8s
