// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace firetower::query {

struct FrameLimits {
  size_t head_bytes = 16 << 10;  // request line and headers
  size_t body_bytes = 1 << 20;
};

// Where the first request in `bytes` ends, before anything of it is interpreted. A pure function:
// it decides what one request is, so nothing behind it can smuggle a second one in.
struct Frame {
  enum class State { kNeedMore, kComplete, kRefused };
  State state = State::kNeedMore;
  // Of head and body. Also known in kNeedMore once the head is there, of a body in chunks as far as
  // its chunks are; 0 before.
  size_t total_bytes = 0;
  int status = 0;           // kRefused: 400, 411, 413 or 431
  const char* reason = "";  // kRefused: for the person who sent it
};

// `scanned`: how many bytes an earlier call has searched for the head's end without finding it, so
// that a head that arrives byte by byte costs linear time.
Frame FrameRequest(std::string_view bytes, size_t scanned, const FrameLimits& limits);

}  // namespace firetower::query
