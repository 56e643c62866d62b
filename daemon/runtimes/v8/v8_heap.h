// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/runtimes/remote_memory.h"
#include "daemon/runtimes/v8/v8_build.h"

namespace firetower::daemon {

// Returns the address of the object that a tagged value points to; nothing: it is no such pointer.
std::optional<uint64_t> ObjectOf(uint64_t value);
// Returns the small integer that a tagged value is.
std::optional<int32_t> SmallIntegerOf(uint64_t value);

// Objects in the memory of a process that runs V8, which changes while it is read: whatever does
// not fit reads as nothing. Views: must not outlive `memory` and `build`.
class V8Heap {
 public:
  // The longest text that is read for a name, in characters.
  static constexpr size_t kMaxText = 512;
  // The longest source text whose lines are counted, in characters.
  static constexpr size_t kMaxSource = 16u << 20;

  V8Heap(const RemoteMemory& memory, const V8Build& build) : memory_(memory), build_(build) {}

  // Returns the instance type of the object at an address.
  std::optional<uint16_t> TypeOf(uint64_t object) const;
  // Returns the tagged value at an offset of an object.
  std::optional<uint64_t> Field(uint64_t object, size_t offset) const {
    return memory_.Get<uint64_t>(object + offset);
  }
  // Returns the object that the value at an offset points to, if it has that type.
  std::optional<uint64_t> ObjectAt(uint64_t object, size_t offset, uint16_t type) const;
  bool Read(uint64_t address, std::span<std::byte> to) const { return memory_.Read(address, to); }

  // Returns a string's text as UTF-8; of one beyond kMaxText its beginning and "…". Nothing: it is
  // no string, or one of a kind that has its text elsewhere.
  std::optional<std::string> Text(uint64_t string) const;
  // Returns where the lines of a source text end, as offsets of characters, rising.
  std::optional<std::vector<uint32_t>> LineEnds(uint64_t string) const;

 private:
  // Characters that lie in a row.
  struct Flat {
    uint64_t address = 0;
    uint32_t length = 0;
    bool wide = false;  // two bytes each
  };
  std::optional<Flat> FlatOf(uint64_t string, int depth) const;
  std::optional<Flat> SliceOf(uint64_t string, uint32_t length, int depth) const;
  bool Append(uint64_t string, int depth, std::u16string& to) const;
  bool AppendFlat(const Flat& flat, std::u16string& to) const;

  const RemoteMemory& memory_;
  const V8Build& build_;
};

}  // namespace firetower::daemon
