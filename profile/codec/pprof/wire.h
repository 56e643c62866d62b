// SPDX-License-Identifier: Apache-2.0
// Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding) as far as pprof uses it:
// varints and length-delimited fields; and what OTLP is written with besides. Written out because
// every sample of every profile passes through here: a message object an entry costs more than the
// entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace firetower::profile {

// One field of a message.
struct WireField {
  uint32_t number = 0;    // 0: of a type that pprof does not use, passed over
  bool is_bytes = false;  // else a number
  uint64_t value = 0;
  std::string_view bytes = {};  // into the message
  // Of a fixed64 field, whose bits are `value`; `number` is 0 then, so that pprof passes it over.
  uint32_t fixed64_number = 0;

  int64_t number_value() const { return static_cast<int64_t>(value); }
};

// Walks over the fields of one message, or over the numbers of one packed list.
class WireReader {
 public:
  explicit WireReader(std::string_view message)
      : begin_(message.data()), at_(begin_), end_(begin_ + message.size()) {}

  bool empty() const { return at_ == end_; }
  size_t position() const { return static_cast<size_t>(at_ - begin_); }

  // False when the bytes are no varint: cut off, or longer than ten bytes.
  bool ReadVarint(uint64_t* out) {
    // Nearly all have one or two bytes.
    if (end_ - at_ >= 2) {
      const auto first = static_cast<unsigned char>(at_[0]);
      const auto second = static_cast<unsigned char>(at_[1]);
      if (first < 0x80) {
        *out = first;
        at_ += 1;
        return true;
      }
      if (second < 0x80) {
        *out = (first & 0x7fu) | uint64_t{second} << 7;
        at_ += 2;
        return true;
      }
    }
    return ReadLongVarint(out);
  }

  // False when the bytes are no field: cut off, number 0, or a group (which pprof never uses).
  bool ReadField(WireField* field) {
    uint64_t tag = 0;
    if (!ReadVarint(&tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
    field->number = static_cast<uint32_t>(tag >> 3);
    field->is_bytes = false;
    field->fixed64_number = 0;
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
        return ReadFixed64(field);
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

  bool ReadLongVarint(uint64_t* out) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) return false;
      const uint64_t byte = static_cast<unsigned char>(*at_++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        *out = value;
        return true;
      }
    }
    return false;
  }

  bool Skip(size_t bytes, WireField* field) {
    if (static_cast<size_t>(end_ - at_) < bytes) return false;
    at_ += bytes;
    field->number = 0;
    return true;
  }

  bool ReadFixed64(WireField* field) {
    const char* from = at_;
    field->fixed64_number = field->number;
    if (!Skip(sizeof(uint64_t), field)) return false;
    field->value = 0;
    for (size_t i = 0; i < sizeof(uint64_t); ++i) {
      field->value |= uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
    }
    return true;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
};

// False when the bytes are no message.
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

// A repeated number comes one by one or packed: protobuf allows both.
template <typename T>
bool AppendNumbers(const WireField& field, std::vector<T>* to) {
  if (!field.is_bytes) {
    to->push_back(static_cast<T>(field.value));
    return true;
  }
  // At most as many as there are bytes: room for them is made once.
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

// Writes one message after the other into a buffer that is used again. Fields of value 0 are left
// out, as proto3 does.
class WireWriter {
 public:
  static constexpr size_t kMaxVarintBytes = 10;

  void Clear() { buffer_.clear(); }
  std::string_view bytes() const { return buffer_; }

  void Number(uint32_t field, uint64_t value) {
    if (value == 0) return;
    char* at = Room(2 * kMaxVarintBytes);
    at = Put(at, uint64_t{field} << 3);
    Used(Put(at, value));
  }
  void Number(uint32_t field, int64_t value) { Number(field, static_cast<uint64_t>(value)); }
  void Number(uint32_t field, uint32_t value) { Number(field, uint64_t{value}); }
  void Number(uint32_t field, bool value) { Number(field, uint64_t{value}); }

  // A number in a oneof: that it is there says something, also when it is 0.
  void Choice(uint32_t field, uint64_t value) {
    char* at = Room(2 * kMaxVarintBytes);
    at = Put(at, uint64_t{field} << 3);
    Used(Put(at, value));
  }
  void Fixed64(uint32_t field, uint64_t value) {
    if (value == 0) return;
    char* at = Put(Room(kMaxVarintBytes + sizeof(value)), uint64_t{field} << 3 | 1);
    for (size_t i = 0; i < sizeof(value); ++i) *at++ = static_cast<char>(value >> (8 * i) & 0xff);
    Used(at);
  }

  // Also an empty text, which stands for itself in a list of texts.
  void Bytes(uint32_t field, std::string_view bytes) {
    char* at = Room(2 * kMaxVarintBytes);
    at = Put(at, uint64_t{field} << 3 | 2);
    Used(Put(at, bytes.size()));
    buffer_.append(bytes);
  }

  // A packed list of `count` numbers; `at(i)` is the i-th one. Nothing when it is empty.
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

  // Adds what was written so far to `out`, as a field of the message there, and starts anew.
  void MoveTo(std::string* out, uint32_t field) {
    char head[2 * kMaxVarintBytes];
    const char* end = Put(Put(head, uint64_t{field} << 3 | 2), buffer_.size());
    out->append(head, static_cast<size_t>(end - head));
    out->append(buffer_);
    buffer_.clear();
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
  // Where to write; what was not used is given back.
  char* Room(size_t bytes) {
    const size_t used = buffer_.size();
    buffer_.resize(used + bytes);
    return buffer_.data() + used;
  }
  void Used(const char* end) { buffer_.resize(static_cast<size_t>(end - buffer_.data())); }

  std::string buffer_;
};

}  // namespace firetower::profile
