// SPDX-License-Identifier: Apache-2.0
#include "query/http/chunked.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace firetower::query {
namespace {

using State = ChunkedBody::State;

constexpr std::string_view kLineEnd = "\r\n";
// Of a size: eight hexadecimal digits are four gigabytes.
constexpr size_t kMaxDigits = 8;

// The size line of a chunk.
struct SizeLine {
  State state = State::kNeedMore;
  size_t bytes = 0;  // of the line
  size_t size = 0;   // of the chunk
};

SizeLine ReadSizeLine(std::string_view bytes) {
  SizeLine line;
  uint32_t size = 0;
  const std::string_view digits = bytes.substr(0, kMaxDigits);
  const auto [rest, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
  const auto count = static_cast<size_t>(rest - digits.data());
  if (bytes.empty()) return line;
  line.state = State::kMalformed;
  if (error != std::errc()) return line;
  const std::string_view end = bytes.substr(count, kLineEnd.size());
  if (!kLineEnd.starts_with(end)) return line;
  line.state = end == kLineEnd ? State::kComplete : State::kNeedMore;
  line.bytes = count + kLineEnd.size();
  line.size = size;
  return line;
}

// Calls `visit` with what each chunk holds, as far as it is there.
template <typename Visit>
ChunkedBody ForEachChunk(std::string_view bytes, size_t max_bytes, const Visit& visit) {
  size_t at = 0;
  for (size_t chunks = 0; chunks <= kMaxChunks; ++chunks) {
    const SizeLine line = ReadSizeLine(bytes.substr(at));
    if (line.state == State::kMalformed) return {State::kMalformed, at};
    // A line of one digit at least, and the end of the chunk.
    const size_t least =
        at + std::max(line.bytes, 1 + kLineEnd.size()) + line.size + kLineEnd.size();
    if (least > max_bytes) return {State::kTooLarge, at};
    if (line.state == State::kNeedMore)
      return {State::kNeedMore, std::max(least, bytes.size() + 1)};
    const std::string_view chunk = bytes.substr(at + line.bytes, line.size);
    const std::string_view end =
        bytes.substr(std::min(bytes.size(), at + line.bytes + line.size), kLineEnd.size());
    // Behind the last one, which holds nothing, anything else would be a trailer.
    if (!kLineEnd.starts_with(end)) return {State::kMalformed, at};
    if (chunk.size() < line.size || end != kLineEnd) return {State::kNeedMore, least};
    visit(chunk);
    at = least;
    if (line.size == 0) return {State::kComplete, at};
  }
  return {State::kTooLarge, at};
}

}  // namespace

ChunkedBody FrameChunks(std::string_view bytes, size_t max_bytes) {
  return ForEachChunk(bytes, max_bytes, [](std::string_view) {});
}

std::string JoinChunks(std::string_view bytes) {
  std::string body;
  ForEachChunk(bytes, bytes.size(), [&](std::string_view chunk) { body.append(chunk); });
  return body;
}

}  // namespace firetower::query
