// SPDX-License-Identifier: Apache-2.0
// Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding) as far as pprof uses it:
// varints and length-delimited fields. Written out because every sample of every profile passes
// through here: a message object an entry costs more than the entry (ADR 29). Other messages are
// read and written by protobuf's generated code, in proto/.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace firetower::profile {

// One field of a message.
struct WireField {
  uint32_t number = 0;    // 0: of a type that pprof does not use, passed over
  bool is_bytes = false;  // else a number
  uint64_t value = 0;
  std::string_view bytes = {};  // into the message
  uint32_t passed_number = 0;   // its own number, where `number` is 0 and nowhere else

  int64_t number_value() const { return static_cast<int64_t>(value); }
};

// Reads the fields of one message, or the numbers of one packed list.
class WireReader {
 public:
  explicit WireReader(std::string_view message)
      : begin_(message.data()), at_(begin_), end_(begin_ + message.size()) {}

  bool empty() const { return at_ == end_; }
  size_t position() const { return static_cast<size_t>(at_ - begin_); }

  // Returns false when the bytes are not a varint: cut off, or longer than ten bytes.
  [[gnu::always_inline]] bool ReadVarint(uint64_t* out) {
    // Nearly all varints have one or two bytes.
    if (at_ != end_) {
      const auto first = static_cast<unsigned char>(at_[0]);
      if (first < 0x80) {
        *out = first;
        at_ += 1;
        return true;
      }
      if (end_ - at_ >= 2) {
        const auto second = static_cast<unsigned char>(at_[1]);
        if (second < 0x80) {
          *out = (first & 0x7fu) | uint64_t{second} << 7;
          at_ += 2;
          return true;
        }
      }
    }
    const Varint read = ReadLongVarint(at_, end_);
    if (read.end == nullptr) return false;
    at_ = read.end;
    *out = read.value;
    return true;
  }

  // Returns false when the bytes are not a field: cut off, number 0, or a group (which pprof never
  // uses).
  [[gnu::always_inline]] bool ReadField(WireField* field) {
    uint64_t tag = 0;
    if (!ReadVarint(&tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
    field->number = static_cast<uint32_t>(tag >> 3);
    field->is_bytes = false;
    switch (tag & 7) {
      case kVarint:
        return ReadVarint(&field->value);
      case kBytes: {
        uint64_t length = 0;
        if (!ReadVarint(&length) || length > static_cast<size_t>(end_ - at_)) return false;
        field->is_bytes = true;
        field->bytes = {at_, static_cast<size_t>(length)};
        at_ += length;
        return true;
      }
      case kFixed64:
        return Skip(8, field);
      case kFixed32:
        return Skip(4, field);
      default:
        return false;
    }
  }

 private:
  static constexpr uint64_t kVarint = 0;
  static constexpr uint64_t kFixed64 = 1;
  static constexpr uint64_t kBytes = 2;
  static constexpr uint64_t kFixed32 = 5;

  struct Varint {
    const char* end = nullptr;  // behind it; nullptr: the bytes are none
    uint64_t value = 0;
  };
  // Takes and returns pointers instead of changing this reader, so that the reader's own pointers
  // stay in registers.
  [[gnu::noinline]] static Varint ReadLongVarint(const char* at, const char* end) {
    if (end - at >= 8) {
      const Varint read = ReadVarintOfWord(at);
      if (read.end != nullptr) return read;
    }
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at != end; shift += 7) {
      const uint64_t byte = static_cast<unsigned char>(*at++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return {at, value};
    }
    return {};
  }
  // Fast path for addresses, which have seven bytes: loads a word and joins its groups of seven
  // bits pair by pair.
  static Varint ReadVarintOfWord(const char* at) {
    static_assert(std::endian::native == std::endian::little);
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof(word));
    const uint64_t ends = ~word & 0x8080808080808080;
    if (ends == 0) return {};
    word &= ends ^ (ends - 1);
    word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
    word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
    word = (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4;
    return {at + std::countr_zero(ends) / 8 + 1, word};
  }

  bool Skip(size_t bytes, WireField* field) {
    if (static_cast<size_t>(end_ - at_) < bytes) return false;
    at_ += bytes;
    field->passed_number = field->number;
    field->number = 0;
    return true;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
};

// Returns false when the bytes are not a message.
template <typename Visit>
bool ForEachField(std::string_view message, const Visit& visit) {
  WireReader in(message);
  WireField field;
  while (!in.empty()) {
    if (!in.ReadField(&field)) return false;
    visit(field);
  }
  return true;
}

// Appends a repeated number, which may come one by one or packed: protobuf allows both.
template <typename T>
bool AppendNumbers(const WireField& field, std::vector<T>* to) {
  if (!field.is_bytes) {
    to->push_back(static_cast<T>(field.value));
    return true;
  }
  // There are at most as many numbers as bytes, so memory is reserved once.
  const size_t before = to->size();
  to->resize(before + field.bytes.size());
  T* at = to->data() + before;
  WireReader in(field.bytes);
  uint64_t number = 0;
  while (!in.empty()) {
    if (!in.ReadVarint(&number)) return false;
    *at++ = static_cast<T>(number);
  }
  to->resize(static_cast<size_t>(at - to->data()));
  return true;
}

}  // namespace firetower::profile
