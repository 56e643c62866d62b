// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"

namespace firetower::net {

// Body of a request: bytes in memory, or a source that is read piece by piece and never lies in
// memory as a whole. Owns neither; both have to outlive it unchanged.
class HttpBody {
 public:
  HttpBody() = default;
  template <std::convertible_to<std::string_view> Text>
  HttpBody(const Text& text)  // NOLINT(google-explicit-constructor): a text is a body
      : text_(text), size_(text_.size()) {}
  explicit HttpBody(const ByteSource& source) : source_(&source), size_(source.size()) {}

  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // The bytes [offset, offset + size), which lie within it.
  HttpBody Part(uint64_t offset, uint64_t size) const;
  // Fills `out` with the bytes from `offset` on, which lie within it; errors are the source's.
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const;

  // Calls `take(std::string_view)` with all bytes in order, piece by piece.
  template <typename Take>
  Status ForEachPiece(const Take& take) const {
    if (source_ == nullptr) {
      take(text_);
      return OkStatus();
    }
    const auto piece = std::make_unique_for_overwrite<char[]>(kPieceBytes);
    for (uint64_t at = 0; at < size_; at += kPieceBytes) {
      const std::span bytes(piece.get(), std::min<uint64_t>(kPieceBytes, size_ - at));
      RETURN_IF_ERROR(ReadAt(at, std::as_writable_bytes(bytes)));
      take(std::string_view(bytes.data(), bytes.size()));
    }
    return OkStatus();
  }

 private:
  // Stays in a core's own cache between reading and digesting.
  static constexpr size_t kPieceBytes = size_t{128} << 10;

  std::string_view text_;
  const ByteSource* source_ = nullptr;
  uint64_t offset_ = 0;  // in the source
  uint64_t size_ = 0;
};

}  // namespace firetower::net
