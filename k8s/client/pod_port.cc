// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/pod_port.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <random>
#include <utility>

#include "base/text/base64.h"
#include "k8s/status/api_call.h"

namespace firetower::k8s {
namespace {

constexpr std::string_view kProtocol = "v4.channel.k8s.io";
constexpr char kDataChannel = 0;
constexpr char kErrorChannel = 1;
constexpr size_t kPortBytes = 2;
constexpr size_t kMaxWrite = 32 << 10;

// Sixteen bytes of chance (RFC 6455 §4.1).
std::string NewKey() {
  std::random_device random;
  std::string bytes(16, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return EncodeBase64(bytes);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// A header's value, "" when there is none.
std::string_view HeaderOf(std::string_view head, std::string_view name) {
  const std::string lower = Lower(head);
  const size_t at = lower.find(fmt::format("\r\n{}:", name));
  if (at == std::string::npos) return "";
  std::string_view value = head.substr(at + name.size() + 3);
  value = value.substr(0, value.find("\r\n"));
  while (value.starts_with(' ')) value.remove_prefix(1);
  while (value.ends_with(' ')) value.remove_suffix(1);
  return value;
}

std::string RequestText(const net::Url& server, std::string_view bearer_token,
                        const PodPortTarget& target, std::string_view key) {
  std::string text = fmt::format(
      "GET {}/api/v1/namespaces/{}/pods/{}/portforward?ports={} HTTP/1.1\r\n"
      "Host: {}\r\n"
      "Upgrade: websocket\r\n"
      "Connection: Upgrade\r\n"
      "Sec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: {}\r\n"
      "Sec-WebSocket-Protocol: {}\r\n",
      server.path, target.namespace_name, target.pod, target.port, server.Authority(), key,
      kProtocol);
  if (!bearer_token.empty()) text += fmt::format("Authorization: Bearer {}\r\n", bearer_token);
  return text + "\r\n";
}

ErrorCode CodeOf(std::string_view status) {
  if (status == "401" || status == "403") return ErrorCode::kPermission;
  return status == "404" ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
}

}  // namespace

Result<std::unique_ptr<PodPort>> PodPort::Open(std::unique_ptr<net::ByteStream> connection,
                                               const net::Url& server,
                                               std::string_view bearer_token,
                                               const PodPortTarget& target, int64_t timeout_ns) {
  std::unique_ptr<PodPort> port(new PodPort(std::move(connection)));
  RETURN_IF_ERROR(port->Upgrade(server, bearer_token, target, timeout_ns)
                      .Context(fmt::format("port {} of pod {}/{}", target.port,
                                           target.namespace_name, target.pod)));
  return port;
}

Status PodPort::Upgrade(const net::Url& server, std::string_view bearer_token,
                        const PodPortTarget& target, int64_t timeout_ns) {
  const std::string key = NewKey();
  RETURN_IF_ERROR(connection_->Write(RequestText(server, bearer_token, target, key), timeout_ns));
  std::string bytes;
  size_t head = std::string::npos;
  while (head == std::string::npos) {
    if (bytes.size() > net::kMaxHeadBytes)
      return Error(ErrorCode::kCorrupt, "the reply's head is too long: is this an API server?");
    std::array<char, 4096> buffer;
    ASSIGN_OR_RETURN(const size_t size,
                     connection_->Read(buffer.data(), buffer.size(), timeout_ns));
    if (size == 0)
      return Error(ErrorCode::kUnavailable, "the server closed the connection without an answer");
    bytes.append(buffer.data(), size);
    head = bytes.find("\r\n\r\n");
  }
  const std::string_view rest = std::string_view(bytes).substr(head + 4);
  const std::string_view status = std::string_view(bytes).substr(0, 12);
  if (!status.starts_with("HTTP/1.1 ") || !status.ends_with("101")) {
    const std::string_view code = status.substr(std::min<size_t>(status.size(), 9));
    return Error(CodeOf(code), fmt::format("the API server answers {}: {}", code, MessageOf(rest)));
  }
  RETURN_IF_ERROR(CheckHead(std::string_view(bytes).substr(0, head + 2), WebSocketAccept(key)));
  reader_.Feed(rest);
  return OkStatus();
}

Status PodPort::CheckHead(std::string_view head, std::string_view expected_accept) const {
  if (HeaderOf(head, "sec-websocket-accept") != expected_accept)
    return Error(ErrorCode::kCorrupt, "the answer belongs to another WebSocket request");
  if (HeaderOf(head, "sec-websocket-protocol") != kProtocol)
    return Error(ErrorCode::kUnsupported, fmt::format("the server does not speak {}", kProtocol));
  return OkStatus();
}

Status PodPort::Send(WebSocketOpcode opcode, std::string_view payload, int64_t timeout_ns) {
  // The mask only protects against caches that misread a stream, so any number will do.
  thread_local std::minstd_rand random(std::random_device{}());
  return connection_->Write(WebSocketFrame(opcode, payload, static_cast<uint32_t>(random())),
                            timeout_ns);
}

Status PodPort::Write(std::string_view data, int64_t timeout_ns) {
  while (!data.empty()) {
    const std::string_view part = data.substr(0, kMaxWrite);
    RETURN_IF_ERROR(
        Send(WebSocketOpcode::kBinary, std::string(1, kDataChannel).append(part), timeout_ns));
    data.remove_prefix(part.size());
  }
  return OkStatus();
}

Result<bool> PodPort::Take(WebSocketMessage message, int64_t timeout_ns) {
  if (message.opcode == WebSocketOpcode::kClose) return false;
  if (message.opcode == WebSocketOpcode::kPing) {
    RETURN_IF_ERROR(Send(WebSocketOpcode::kPong, message.payload, timeout_ns));
    return true;
  }
  if (message.opcode == WebSocketOpcode::kPong || message.payload.empty()) return true;
  const char channel = message.payload[0];
  std::string_view bytes = std::string_view(message.payload).substr(1);
  if (channel != kDataChannel && channel != kErrorChannel) return true;
  if (!std::exchange(began_[static_cast<size_t>(channel)], true))
    bytes.remove_prefix(std::min(bytes.size(), kPortBytes));
  if (channel == kErrorChannel && !bytes.empty())
    return Error(ErrorCode::kUnavailable, "the pod's kubelet says: " + MessageOf(bytes));
  if (channel == kDataChannel) data_ += bytes;
  return true;
}

Result<size_t> PodPort::Read(char* out, size_t size, int64_t timeout_ns) {
  while (data_.empty() && !ended_) {
    ASSIGN_OR_RETURN(std::optional<WebSocketMessage> message, reader_.Next());
    if (message) {
      ASSIGN_OR_RETURN(const bool goes_on, Take(*std::move(message), timeout_ns));
      ended_ = !goes_on;
      continue;
    }
    std::array<char, 16 << 10> buffer;
    ASSIGN_OR_RETURN(const size_t got, connection_->Read(buffer.data(), buffer.size(), timeout_ns));
    if (got == 0) ended_ = true;
    reader_.Feed({buffer.data(), got});
  }
  const size_t taken = std::min(size, data_.size());
  std::memcpy(out, data_.data(), taken);
  data_.erase(0, taken);
  return taken;
}

}  // namespace firetower::k8s
