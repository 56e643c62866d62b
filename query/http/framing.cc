// SPDX-License-Identifier: Apache-2.0
#include "query/http/framing.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "query/http/chunked.h"

namespace firetower::query {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";

Frame Refused(int status, const char* reason) {
  Frame frame;
  frame.state = Frame::State::kRefused;
  frame.status = status;
  frame.reason = reason;
  return frame;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// RFC 9112 §6.3: how the body's length is told by the header lines after the request line.
// `has_chunks`: the version has them, HTTP/1.1.
struct BodyLength {
  Frame refusal = {};  // kRefused, or nothing
  uint64_t bytes = 0;
  bool is_chunked = false;
};

BodyLength ReadBodyLength(std::string_view head, bool has_chunks) {
  const auto refused = [](int status, const char* reason) {
    return BodyLength{.refusal = Refused(status, reason)};
  };
  std::optional<uint64_t> length;
  bool is_chunked = false;
  while (!head.empty()) {
    size_t end = head.find("\r\n");
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 2);
    size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view name = line.substr(0, colon);
    std::string_view value = Trim(line.substr(colon + 1));
    if (SameName(Trim(name), "transfer-encoding")) {
      // §6.1: who does not know chunks reads another request out of these bytes.
      if (!has_chunks) return refused(400, "Transfer-Encoding is of HTTP/1.1 alone");
      // A name with blanks behind is one to some readers and none to others.
      if (is_chunked || !SameName(name, "transfer-encoding") || !SameName(value, "chunked")) {
        return refused(411, "a body needs a Content-Length, or chunked as its Transfer-Encoding");
      }
      is_chunked = true;
      continue;
    }
    if (!SameName(Trim(name), "content-length")) continue;
    uint64_t number = 0;
    auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (length || error != std::errc() || rest != value.data() + value.size()) {
      return refused(400, "Content-Length must be there once and be a number");
    }
    length = number;
  }
  if (length && is_chunked) return refused(400, "a body has a Content-Length or is chunked");
  return BodyLength{.bytes = length.value_or(0), .is_chunked = is_chunked};
}

constexpr const char* kBodyTooLarge = "the body is larger than this server takes";

// `rest`: what there is behind the head.
Frame FrameBody(std::string_view head, std::string_view rest, const FrameLimits& limits) {
  const size_t head_bytes = head.size();
  const size_t request_line_end = head.find("\r\n");
  const bool has_chunks = head.substr(0, request_line_end).ends_with(" HTTP/1.1");
  const BodyLength length = ReadBodyLength(head.substr(request_line_end + 2), has_chunks);
  if (length.refusal.state == Frame::State::kRefused) return length.refusal;
  if (length.bytes > limits.body_bytes) return Refused(413, kBodyTooLarge);
  Frame frame;
  frame.total_bytes = head_bytes + static_cast<size_t>(length.bytes);
  frame.state = rest.size() < length.bytes ? Frame::State::kNeedMore : Frame::State::kComplete;
  if (!length.is_chunked) return frame;
  const ChunkedBody chunks = FrameChunks(rest, limits.body_bytes);
  if (chunks.state == ChunkedBody::State::kTooLarge) return Refused(413, kBodyTooLarge);
  if (chunks.state == ChunkedBody::State::kMalformed) {
    return Refused(400, "the body's chunks are malformed, or have extensions or trailers");
  }
  frame.total_bytes = head_bytes + chunks.bytes;
  frame.state = chunks.state == ChunkedBody::State::kComplete ? Frame::State::kComplete
                                                              : Frame::State::kNeedMore;
  return frame;
}

}  // namespace

Frame FrameRequest(std::string_view bytes, size_t scanned, const FrameLimits& limits) {
  size_t from = scanned < kHeadEnd.size() ? 0 : scanned - kHeadEnd.size();
  size_t found = bytes.find(kHeadEnd, from);
  size_t head_bytes = found == std::string_view::npos ? bytes.size() : found + kHeadEnd.size();
  if (head_bytes > limits.head_bytes) {
    return Refused(431, "the request line and headers are longer than this server takes");
  }
  if (found == std::string_view::npos) return Frame();

  std::string_view head = bytes.substr(0, head_bytes);
  // Readers of HTTP disagree about these bytes; whoever sends them means no good.
  for (size_t i = 0; i < head.size(); ++i) {
    bool bare = head[i] == '\n' && (i == 0 || head[i - 1] != '\r');
    if (bare || head[i] == '\0') return Refused(400, "the head holds a bare LF or a NUL byte");
  }
  return FrameBody(head, bytes.substr(head_bytes), limits);
}

}  // namespace firetower::query
