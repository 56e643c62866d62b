// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/runtimes/v8/v8_heap.h"

namespace firetower::daemon {

// Code that V8's optimizing compilers made of a function and of those that it calls.
struct V8Code {
  // A place in a source text. `caller` is 0 for the function itself, else one more than the index
  // of the call, in `calls`, that was compiled into it.
  struct Place {
    uint32_t character = 0;
    uint16_t caller = 0;
  };
  struct Call {
    Place at;
    uint64_t shared = 0;  // the SharedFunctionInfo of what is called there
  };
  struct Entry {
    uint32_t offset = 0;  // in code or bytecodes: from there on it is of that place
    Place place;
  };

  uint64_t shared = 0;  // its function's SharedFunctionInfo
  std::vector<Call> calls;
  std::vector<Entry> entries;  // by offset, rising
};

// The fields that tell whether a Code, of whatever compiler, is still what it was.
struct V8CodeHead {
  uint64_t start = 0;  // address of its first instruction
  uint32_t size = 0;   // in bytes
  uint64_t description = 0;

  bool operator==(const V8CodeHead&) const = default;
};
inline constexpr size_t kCodeHeadBytes = 64;  // the fields lie within these
std::optional<V8CodeHead> ReadCodeHead(const V8Heap& heap, const V8Build& build, uint64_t code);

// Reads the Code at an address. Nothing: there is none, or it was not made by such a compiler.
std::optional<V8Code> ReadCode(const V8Heap& heap, const V8Build& build, uint64_t code);

// Returns the addresses of the codes that loops of a function were compiled to while they ran, as
// the feedback of the function has them, given its FeedbackCell. V8 10 keeps them elsewhere.
std::vector<uint64_t> ReadLoopCodes(const V8Heap& heap, const V8Build& build, uint64_t cell);

// Reads a table of positions, of compiled code or of bytecodes.
std::vector<V8Code::Entry> ReadPositions(const V8Heap& heap, const V8Build& build, uint64_t table);

}  // namespace firetower::daemon
