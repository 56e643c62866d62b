// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "symbolizer/random_access.h"

namespace firetower::symbolizer {

// A window into a part of a file, in chunks of 64 KiB that are read on first use. Functions are
// walked in order of address, which is nearly the order in the file, so each chunk is read about
// once. Memory: the size of the part, at most 8 MiB, and 1 MiB more when the part is longer.
class FrameBytes {
 public:
  static constexpr size_t kMaxLength = 1u << 20;  // of one Get
  static constexpr size_t kChunkBytes = 64u << 10;
  static constexpr size_t kMaxChunks = 128;

  // Keeps at most `max_chunks` chunks. Two suffice for a part that is read once, from front to
  // back.
  FrameBytes(const RandomAccess& source, uint64_t file_offset, uint64_t size,
             size_t max_chunks = kMaxChunks);

  uint64_t size() const { return size_; }
  // Returns up to `length` bytes from `offset`: fewer at the part's end, none after a read error.
  // The bytes are valid until the next Get.
  std::span<const std::byte> Get(uint64_t offset, size_t length);
  // The first read error. After an error every Get returns nothing.
  const Status& status() const { return status_; }

 private:
  bool Load(uint64_t chunk);
  size_t SlotOf(uint64_t chunk) const {
    const size_t slots = chunk_in_slot_.size();
    // Most parts have a slot for each chunk. The condition avoids a division, which would be
    // measurable.
    return static_cast<size_t>(chunk < slots ? chunk : chunk % slots);
  }

  const RandomAccess* source_;
  uint64_t file_offset_;
  uint64_t size_;
  std::vector<uint64_t> chunk_in_slot_;  // by slot: chunk number + 1, 0 for none
  // All slots in one piece: what spans two chunks lies together, but for the last slot and the
  // first.
  std::unique_ptr<std::byte[]> slots_;
  std::vector<std::byte> joined_;
  Status status_;
};

}  // namespace firetower::symbolizer
