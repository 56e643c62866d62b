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

// A window into a part of a file: chunks of 64 KiB, read when first wanted. Functions are walked in
// order of address, which in a section is a few runs in file order, so each chunk is read about
// once. Memory: the part's size, at most 8 MiB, and 1 MiB more when the part is longer than that.
class FrameBytes {
 public:
  static constexpr size_t kMaxLength = 1u << 20;  // of one Get
  static constexpr size_t kChunkBytes = 64u << 10;
  static constexpr size_t kMaxChunks = 128;

  // Keeps at most `max_chunks`: a part that is read once, from front to back, needs two.
  FrameBytes(const RandomAccess& source, uint64_t file_offset, uint64_t size,
             size_t max_chunks = kMaxChunks);

  uint64_t size() const { return size_; }
  // Up to `length` bytes from `offset`: fewer at the part's end, none when reading failed. They
  // stay until the next Get.
  std::span<const std::byte> Get(uint64_t offset, size_t length);
  // What reading met; once failed, every Get is empty.
  const Status& status() const { return status_; }

 private:
  bool Load(uint64_t chunk);
  size_t SlotOf(uint64_t chunk) const {
    const size_t slots = chunk_in_slot_.size();
    // Most sections have a slot for each chunk; a division would show.
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
