// SPDX-License-Identifier: Apache-2.0
// Bodies in chunks (RFC 9112 §7.1), as connect-go 1.11 sends them, which older Grafanas are made
// with. Strict: no extensions, no trailers, CRLF alone; whatever readers could disagree about is
// refused.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace firetower::query {

struct ChunkedBody {
  enum class State { kNeedMore, kComplete, kMalformed, kTooLarge };
  State state = State::kNeedMore;
  // As sent, chunk lines included; of kNeedMore how many there will be at least.
  size_t bytes = 0;
};

// More chunks than that are too large, however small they are: they are looked at anew with every
// packet.
inline constexpr size_t kMaxChunks = 1024;

// Where the body at the start of `bytes` ends. `max_bytes` counts chunk lines too.
ChunkedBody FrameChunks(std::string_view bytes, size_t max_bytes);

// What a complete one holds.
std::string JoinChunks(std::string_view bytes);

}  // namespace firetower::query
