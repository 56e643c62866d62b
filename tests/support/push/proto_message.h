// SPDX-License-Identifier: Apache-2.0
// Any Protocol Buffers message, taken apart without its definition: the wire format read by other
// code than the product's, so that what that writes is not judged by itself.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace firetower::testing {

class ProtoMessage {
 public:
  enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  struct Field {
    uint32_t number = 0;
    WireType type = kVarint;
    uint64_t value = 0;
    std::string bytes = {};
  };

  ProtoMessage() = default;
  explicit ProtoMessage(std::string bytes) : bytes_(std::move(bytes)) {
    while (at_ < bytes_.size()) {
      const uint64_t tag = Varint();
      Field field{.number = static_cast<uint32_t>(tag >> 3),
                  .type = static_cast<WireType>(tag & 7)};
      if (field.type == kVarint) {
        field.value = Varint();
      } else if (field.type == kBytes) {
        field.bytes = Take(Varint());
      } else if (field.type == kFixed64) {
        const std::string eight = Take(8);
        for (size_t i = eight.size(); i-- > 0;)
          field.value = field.value << 8 | static_cast<unsigned char>(eight[i]);
      } else {
        ADD_FAILURE() << "wire type " << int{field.type} << " at " << at_;
        return;
      }
      fields_.push_back(std::move(field));
    }
  }

  const std::vector<Field>& fields() const { return fields_; }
  bool empty() const { return bytes_.empty(); }

  std::vector<Field> All(uint32_t number) const {
    std::vector<Field> all;
    for (const Field& field : fields_) {
      if (field.number == number) all.push_back(field);
    }
    return all;
  }
  bool Has(uint32_t number) const { return !All(number).empty(); }
  // Returns a number; an absent field is 0, "" or empty, as in proto3.
  uint64_t Number(uint32_t number) const {
    const std::vector<Field> all = All(number);
    return all.empty() ? 0 : all.back().value;
  }
  std::string Text(uint32_t number) const {
    const std::vector<Field> all = All(number);
    return all.empty() ? "" : all.back().bytes;
  }
  std::vector<std::string> Texts(uint32_t number) const {
    std::vector<std::string> texts;
    for (const Field& field : All(number)) texts.push_back(field.bytes);
    return texts;
  }
  ProtoMessage Message(uint32_t number) const { return ProtoMessage(Text(number)); }
  std::vector<ProtoMessage> Messages(uint32_t number) const {
    std::vector<ProtoMessage> messages;
    for (const std::string& bytes : Texts(number)) messages.emplace_back(bytes);
    return messages;
  }
  // A packed list.
  std::vector<uint64_t> Numbers(uint32_t number) const {
    ProtoMessage list;
    list.bytes_ = Text(number);
    std::vector<uint64_t> numbers;
    while (list.at_ < list.bytes_.size()) numbers.push_back(list.Varint());
    return numbers;
  }

 private:
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ >= bytes_.size()) break;
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    ADD_FAILURE() << "a number does not end at " << at_;
    at_ = bytes_.size();
    return 0;
  }
  std::string Take(uint64_t length) {
    if (length > bytes_.size() - at_) {
      ADD_FAILURE() << length << " bytes are not there at " << at_;
      at_ = bytes_.size();
      return "";
    }
    std::string part = bytes_.substr(at_, length);
    at_ += length;
    return part;
  }

  std::string bytes_;
  size_t at_ = 0;
  std::vector<Field> fields_;
};

}  // namespace firetower::testing
