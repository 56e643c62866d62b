// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/v8/v8_heap.h"

#include <algorithm>

#include "base/text/utf8.h"

namespace firetower::daemon {
namespace {

// Instance types of strings (instance-type.h, the same in every version): how the text is kept in
// the lowest bits, whether its characters have one byte, and that the pointer to an external text
// is not there.
constexpr uint16_t kNotString = 0x80;
constexpr uint16_t kRepresentation = 7;
constexpr uint16_t kOneByte = 8;
constexpr uint16_t kUncached = 16;
enum Representation : uint16_t { kFlat = 0, kCons = 1, kExternal = 2, kSliced = 3, kThin = 5 };

// Strings that are put together of others, one in the other, before one counts as damaged.
constexpr int kMaxDepth = 16;
constexpr size_t kChunkBytes = 64u << 10;

std::string ToUtf8(std::u16string_view text) {
  std::string to;
  for (size_t i = 0; i < text.size(); ++i) {
    uint32_t c = text[i];
    const bool pair = c >= 0xd800 && c < 0xdc00 && i + 1 < text.size() && text[i + 1] >= 0xdc00 &&
                      text[i + 1] < 0xe000;
    if (pair) c = 0x10000 + ((c - 0xd800) << 10) + (text[++i] - 0xdc00u);
    AppendUtf8(c, to);
  }
  return to;
}

// Finds the ends of lines in a text that comes in pieces, as V8 counts them.
class LineCounter {
 public:
  void Take(char16_t c) {
    if (after_return_ && c != u'\n') ends_.push_back(at_ - 1);
    after_return_ = c == u'\r';
    if (c == u'\n' || c == 0x2028 || c == 0x2029) ends_.push_back(at_);
    ++at_;
  }
  std::vector<uint32_t> Finish() {
    if (after_return_) ends_.push_back(at_ - 1);
    return std::move(ends_);
  }

 private:
  std::vector<uint32_t> ends_;
  uint32_t at_ = 0;
  bool after_return_ = false;
};

}  // namespace

std::optional<uint64_t> ObjectOf(uint64_t value) {
  if ((value & FT_V8_TAG_MASK) != FT_V8_TAG || value < 0x1000) return std::nullopt;
  return value - FT_V8_TAG;
}

std::optional<int32_t> SmallIntegerOf(uint64_t value) {
  if ((value & UINT32_MAX) != 0) return std::nullopt;
  return static_cast<int32_t>(value >> 32);
}

std::optional<uint16_t> V8Heap::TypeOf(uint64_t object) const {
  const auto map = memory_.Get<uint64_t>(object);
  const auto at = map ? ObjectOf(*map) : std::nullopt;
  return at ? memory_.Get<uint16_t>(*at + build_.map_type) : std::nullopt;
}

std::optional<uint64_t> V8Heap::ObjectAt(uint64_t object, size_t offset, uint16_t type) const {
  const auto value = Field(object, offset);
  const auto at = value ? ObjectOf(*value) : std::nullopt;
  return at && TypeOf(*at) == type ? at : std::nullopt;
}

std::optional<V8Heap::Flat> V8Heap::SliceOf(uint64_t string, uint32_t length, int depth) const {
  const auto parent = Field(string, build_.sliced_parent);
  const auto offset = Field(string, build_.sliced_offset);
  const auto at = parent ? ObjectOf(*parent) : std::nullopt;
  const auto from = offset ? SmallIntegerOf(*offset) : std::nullopt;
  auto flat = at && from ? FlatOf(*at, depth + 1) : std::nullopt;
  if (!flat || *from < 0 || static_cast<uint32_t>(*from) > flat->length ||
      flat->length - static_cast<uint32_t>(*from) < length)
    return std::nullopt;
  flat->address += static_cast<uint64_t>(*from) * (flat->wide ? 2 : 1);
  flat->length = length;
  return flat;
}

std::optional<V8Heap::Flat> V8Heap::FlatOf(uint64_t string, int depth) const {
  const auto type = TypeOf(string);
  const auto length = memory_.Get<uint32_t>(string + build_.string_length);
  if (depth > kMaxDepth || !type || *type >= kNotString || !length) return std::nullopt;
  const bool wide = (*type & kOneByte) == 0;
  switch (*type & kRepresentation) {
    case kFlat:
      return Flat{string + (wide ? build_.two_byte_text : build_.one_byte_text), *length, wide};
    case kExternal: {
      if ((*type & kUncached) != 0) return std::nullopt;
      // Behind the pointer to who has the text is the one to the text.
      const auto text = Field(string, build_.external_resource + sizeof(uint64_t));
      return text ? std::optional(Flat{*text, *length, wide}) : std::nullopt;
    }
    case kSliced:
      return SliceOf(string, *length, depth);
    case kThin:
    case kCons: {
      // A string that was put together and then made flat has all of it in its first part.
      const bool thin = (*type & kRepresentation) == kThin;
      const auto part = Field(string, thin ? build_.thin_actual : build_.cons_first);
      const auto at = part ? ObjectOf(*part) : std::nullopt;
      const auto flat = at ? FlatOf(*at, depth + 1) : std::nullopt;
      return flat && flat->length == *length ? flat : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

bool V8Heap::AppendFlat(const Flat& flat, std::u16string& to) const {
  const size_t count = std::min<size_t>(flat.length, kMaxText + 1 - std::min(to.size(), kMaxText));
  std::vector<uint8_t> bytes(count * (flat.wide ? 2 : 1));
  if (!memory_.Read(flat.address, std::as_writable_bytes(std::span(bytes)))) return false;
  for (size_t i = 0; i < count; ++i) {
    to += flat.wide ? static_cast<char16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8)
                    : static_cast<char16_t>(bytes[i]);
  }
  return true;
}

bool V8Heap::Append(uint64_t string, int depth, std::u16string& to) const {
  if (to.size() > kMaxText) return true;
  if (const auto flat = FlatOf(string, depth)) return AppendFlat(*flat, to);
  const auto type = TypeOf(string);
  if (depth > kMaxDepth || !type || *type >= kNotString || (*type & kRepresentation) != kCons)
    return false;
  for (const uint16_t offset : {build_.cons_first, build_.cons_second}) {
    const auto part = Field(string, offset);
    const auto at = part ? ObjectOf(*part) : std::nullopt;
    if (!at || !Append(*at, depth + 1, to)) return false;
  }
  return true;
}

std::optional<std::string> V8Heap::Text(uint64_t string) const {
  std::u16string text;
  if (!Append(string, 0, text)) return std::nullopt;
  if (text.size() <= kMaxText) return ToUtf8(text);
  text.resize(kMaxText);
  return ToUtf8(text) + "…";
}

std::optional<std::vector<uint32_t>> V8Heap::LineEnds(uint64_t string) const {
  const auto flat = FlatOf(string, 0);
  if (!flat || flat->length > kMaxSource) return std::nullopt;
  LineCounter lines;
  std::vector<uint8_t> bytes;
  const uint64_t end = flat->address + uint64_t{flat->length} * (flat->wide ? 2 : 1);
  for (uint64_t at = flat->address; at < end; at += bytes.size()) {
    bytes.resize(std::min<uint64_t>(kChunkBytes, end - at));
    if (!memory_.Read(at, std::as_writable_bytes(std::span(bytes)))) return std::nullopt;
    if (flat->wide) {
      for (size_t i = 0; i + 1 < bytes.size(); i += 2)
        lines.Take(static_cast<char16_t>(bytes[i] | bytes[i + 1] << 8));
    } else {
      for (const uint8_t byte : bytes) lines.Take(byte);
    }
  }
  return lines.Finish();
}

}  // namespace firetower::daemon
