// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/frame_bytes.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace firetower::symbolizer {

FrameBytes::FrameBytes(const RandomAccess& source, uint64_t file_offset, uint64_t size,
                       size_t max_chunks)
    : source_(&source),
      file_offset_(file_offset),
      size_(size),
      chunk_in_slot_(static_cast<size_t>(
          std::clamp<uint64_t>((size + kChunkBytes - 1) / kChunkBytes, 1, max_chunks))),
      // Not initialised: a file's size is a promise, and pages that are not read cost nothing.
      slots_(std::make_unique_for_overwrite<std::byte[]>(chunk_in_slot_.size() * kChunkBytes)) {}

std::span<const std::byte> FrameBytes::Get(uint64_t offset, size_t length) {
  CHECK(length <= kMaxLength);
  if (!status_ || offset >= size_) return {};
  length = static_cast<size_t>(std::min<uint64_t>(length, size_ - offset));
  const uint64_t first = offset / kChunkBytes;
  const uint64_t last = length == 0 ? first : (offset + length - 1) / kChunkBytes;
  for (uint64_t chunk = first; chunk <= last; ++chunk) {
    if (chunk_in_slot_[SlotOf(chunk)] != chunk + 1 && !Load(chunk)) return {};
  }
  const size_t begin = SlotOf(first) * kChunkBytes + static_cast<size_t>(offset % kChunkBytes);
  const size_t until_end = chunk_in_slot_.size() * kChunkBytes - begin;
  if (length <= until_end) return {slots_.get() + begin, length};
  joined_.resize(length);
  std::memcpy(joined_.data(), slots_.get() + begin, until_end);
  std::memcpy(joined_.data() + until_end, slots_.get(), length - until_end);
  return joined_;
}

bool FrameBytes::Load(uint64_t chunk) {
  const size_t slot = SlotOf(chunk);
  const uint64_t offset = chunk * kChunkBytes;
  const auto length = static_cast<size_t>(std::min<uint64_t>(kChunkBytes, size_ - offset));
  chunk_in_slot_[slot] = 0;
  status_ = source_->ReadAt(file_offset_ + offset, {slots_.get() + slot * kChunkBytes, length});
  if (!status_) return false;
  chunk_in_slot_[slot] = chunk + 1;
  return true;
}

}  // namespace firetower::symbolizer
