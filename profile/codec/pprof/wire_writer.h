// SPDX-License-Identifier: Apache-2.0
// Writes the wire format that wire.h reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace firetower::profile {

// Writes one message after the other into a buffer that is used again. Omits fields of value 0, as
// proto3 does.
class WireWriter {
 public:
  static constexpr size_t kMaxVarintBytes = 10;

  void Clear() { used_ = 0; }
  std::string_view bytes() const { return {buffer_.data(), used_}; }

  void Number(uint32_t field, uint64_t value) {
    if (value == 0) return;
    char* at = Room(2 * kMaxVarintBytes);
    at = Put(at, uint64_t{field} << 3);
    Used(Put(at, value));
  }
  void Number(uint32_t field, int64_t value) { Number(field, static_cast<uint64_t>(value)); }
  void Number(uint32_t field, uint32_t value) { Number(field, uint64_t{value}); }
  void Number(uint32_t field, bool value) { Number(field, uint64_t{value}); }

  // Also an empty text, which stands for itself in a list of texts.
  void Bytes(uint32_t field, std::string_view bytes) {
    char* at = Room(2 * kMaxVarintBytes + bytes.size());
    at = Put(at, uint64_t{field} << 3 | 2);
    Used(std::ranges::copy(bytes, Put(at, bytes.size())).out);
  }

  // Writes a packed list of `count` numbers, where `at(i)` is the i-th one. Writes nothing for an
  // empty list.
  template <typename At>
  void Packed(uint32_t field, size_t count, const At& at) {
    if (count == 0) return;
    size_t bytes = 0;
    for (size_t i = 0; i < count; ++i) bytes += VarintBytes(static_cast<uint64_t>(at(i)));
    char* end = Room(2 * kMaxVarintBytes + bytes);
    end = Put(Put(end, uint64_t{field} << 3 | 2), bytes);
    for (size_t i = 0; i < count; ++i) end = Put(end, static_cast<uint64_t>(at(i)));
    Used(end);
  }

  // Appends the message written so far to `out`, as a field of the message there, and starts a new
  // one.
  void MoveTo(std::string* out, uint32_t field) {
    char head[2 * kMaxVarintBytes];
    const char* end = Put(Put(head, uint64_t{field} << 3 | 2), used_);
    out->append(head, static_cast<size_t>(end - head));
    out->append(bytes());
    Clear();
  }

 private:
  static size_t VarintBytes(uint64_t value) {
    size_t bytes = 1;
    for (; value >= 0x80; value >>= 7) ++bytes;
    return bytes;
  }
  static char* Put(char* at, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
    *at++ = static_cast<char>(value);
    return at;
  }
  // Returns the write position with room for `bytes`. The buffer only grows, because shrinking it
  // would fill it with zeros again later.
  char* Room(size_t bytes) {
    if (buffer_.size() - used_ < bytes) {
      buffer_.resize(std::max(used_ + bytes, buffer_.size() * 2));
    }
    return buffer_.data() + used_;
  }
  void Used(const char* end) { used_ = static_cast<size_t>(end - buffer_.data()); }

  std::string buffer_;
  size_t used_ = 0;  // of it
};

}  // namespace firetower::profile
