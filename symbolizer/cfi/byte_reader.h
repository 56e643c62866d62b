// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace firetower::symbolizer {

// Reads little-endian numbers from bytes that it does not own. A read beyond the end returns 0 and
// sets failed() permanently, so that a parser checks it once at the end and not at each number.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool failed() const { return failed_; }
  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  std::span<const std::byte> Rest() const { return bytes_.subspan(position_); }

  template <typename T>
  T Fixed() {
    T value{};
    if (remaining() < sizeof(T)) {
      Fail();
      return value;
    }
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }
  uint8_t U8() { return Fixed<uint8_t>(); }

  // Reads an unsigned LEB128 number (DWARF 5, 7.6). Numbers of more than 64 bits fail.
  uint64_t Uleb() {
    // Nearly all numbers fit in one byte.
    if (remaining() > 0 && bytes_[position_] < std::byte{0x80}) {
      return static_cast<uint8_t>(bytes_[position_++]);
    }
    return LongUleb();
  }
  uint64_t LongUleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = U8();
      value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    Fail();
    return 0;
  }
  int64_t Sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = U8();
      value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
    Fail();
    return 0;
  }

  std::span<const std::byte> Bytes(uint64_t count) {
    if (count > remaining()) {
      Fail();
      return {};
    }
    auto result = bytes_.subspan(position_, static_cast<size_t>(count));
    position_ += static_cast<size_t>(count);
    return result;
  }

 private:
  void Fail() {
    failed_ = true;
    position_ = bytes_.size();
  }

  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  bool failed_ = false;
};

}  // namespace firetower::symbolizer
