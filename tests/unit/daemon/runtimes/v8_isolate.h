// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "daemon/runtimes/v8/v8_names.h"
#include "tests/unit/daemon/runtimes/fake_memory.h"

namespace firetower::testing {

// Lays objects of V8 out as a version has them: 12.4 or 13.6, of which the second has a function's
// place in front of its variables and one array more in what compiled code says of itself.
class V8Isolate {
 public:
  static constexpr uint64_t kHeap = 0x100000;
  static constexpr uint64_t kCode = 0x7f0000001000;
  // "one\ntwo\n…": each line has four characters.
  static constexpr std::string_view kSource = "one\ntwo\nthr\nfou\nfiv\n";

  explicit V8Isolate(uint16_t major) {
    memory.Map(kHeap, 0x20000);
    memory.Map(kCode, 0x1000);
    build.major = major;
    build.minor = major == 12 ? 4 : 6;
    build.function_shared = 32;
    build.shared_name = major == 12 ? 16 : 24;
    build.shared_script = major == 12 ? 32 : 40;
    build.map_type = 12;
    build.string_length = 12;
    build.one_byte_text = build.two_byte_text = 16;
    build.cons_first = build.sliced_parent = build.thin_actual = build.external_resource = 16;
    build.cons_second = build.sliced_offset = 24;
    build.script_name = 16;
    build.script_source = 8;
    build.bytecodes = 64;
    build.bytecode_wrapper = 16;
    build.shared_type = 274;
    build.scope_type = 272;
    build.script_type = 167;
    build.bytecode_type = 205;
    build.code_type = 206;
    build.function_code = 24;
    build.function_feedback = 48;
    build.code_start = 40;
    build.code_size = major == 12 ? 52 : 56;
  }

  // Return the address of a new object.
  uint64_t Object(uint16_t type, size_t bytes) {
    const uint64_t map = Allocate(16), object = Allocate(bytes);
    memory.Put(map + build.map_type, type);
    memory.Put(object, Tag(map));
    return object;
  }
  uint64_t Text(std::string_view text) {
    const uint64_t string = Object(kOneByteText, 16 + text.size());
    memory.Put(string + 12, static_cast<uint32_t>(text.size()));
    memory.PutText(string + 16, text);
    return string;
  }
  uint64_t WideText(std::u16string_view text) {
    const uint64_t string = Object(kTwoByteText, 16 + 2 * text.size());
    memory.Put(string + 12, static_cast<uint32_t>(text.size()));
    memory.PutBytes(string + 16, std::as_bytes(std::span(text)));
    return string;
  }
  uint64_t Joined(uint64_t first, uint64_t second, uint32_t length) {
    const uint64_t string = Object(kJoinedText, 32);
    memory.Put(string + 12, length);
    memory.Put(string + 16, Tag(first));
    memory.Put(string + 24, Tag(second));
    return string;
  }
  uint64_t Array(std::initializer_list<uint64_t> elements) {
    const uint64_t array = Object(kArray, 16 + 8 * elements.size());
    memory.Put(array + 8, Small(static_cast<int32_t>(elements.size())));
    uint64_t at = array + 16;
    for (const uint64_t element : elements) {
      memory.Put(at, element);
      at += 8;
    }
    return array;
  }
  uint64_t Bytes(std::span<const std::byte> bytes) {
    const uint64_t array = Object(kBytes, 16 + bytes.size());
    memory.Put(array + 8, Small(static_cast<int32_t>(bytes.size())));
    memory.PutBytes(array + 16, bytes);
    return array;
  }
  uint64_t Script(std::string_view file) {
    const uint64_t script = Object(build.script_type, 64);
    memory.Put(script + build.script_source, Tag(Text(kSource)));
    memory.Put(script + build.script_name, Tag(Text(file)));
    return script;
  }
  // A ScopeInfo with that many variables, of a function whose text begins at `start`. No name: 0.
  uint64_t Scope(uint64_t name, uint64_t inferred, int32_t start, int32_t variables = 0) {
    const bool first = build.places_first();
    const uint64_t scope = Object(build.scope_type, 1024);
    const uint32_t flags = (name != 0 ? 3u << 12 : 0) | 1u << 14;
    memory.Put(scope + 8, first ? uint64_t{flags} : uint64_t{flags} << 32);
    memory.Put(scope + 16, Small(2));
    memory.Put(scope + 24, Small(variables));
    uint64_t at = scope + 32;
    const auto place = [&] {
      memory.Put(at, Small(start));
      memory.Put(at + 8, Small(start + 3));
      at += 16;
    };
    if (first) place();
    at += 8 * static_cast<uint64_t>(variables < 75 ? 2 * variables : 1 + variables);
    if (name != 0) {
      memory.Put(at, Tag(name));
      memory.Put(at + 8, Small(-1));
      at += 16;
    }
    memory.Put(at, Tag(inferred != 0 ? inferred : Object(kUndefined, 16)));
    at += 8;
    if (!first) place();
    return scope;
  }
  uint64_t Function(uint64_t name_or_scope, uint64_t script) {
    const uint64_t shared = Object(build.shared_type, 64);
    memory.Put(shared + build.shared_name, Tag(name_or_scope));
    memory.Put(shared + build.shared_script, Tag(script));
    return shared;
  }

  daemon::V8Frame Frame(uint64_t shared, uint32_t position = 0) const {
    const auto name = memory.Get<uint64_t>(shared + build.shared_name);
    const auto script = memory.Get<uint64_t>(shared + build.shared_script);
    return {.word = FT_WORD_SCRIPT | shared,
            .where = uint64_t{ft_v8_cookie(*name, *script)} << 32 | position};
  }

  static constexpr uint64_t Tag(uint64_t object) { return object + FT_V8_TAG; }
  static constexpr uint64_t Small(int32_t value) {
    return static_cast<uint64_t>(static_cast<uint32_t>(value)) << 32;
  }
  static constexpr uint16_t kOneByteText = 40, kTwoByteText = 32, kJoinedText = 41, kArray = 174,
                            kBytes = 186, kUndefined = 131;

  FakeMemory memory;
  daemon::V8Build build;

 private:
  uint64_t Allocate(size_t bytes) {
    const uint64_t at = next_;
    next_ += (bytes + 63) & ~size_t{63};
    return at;
  }
  uint64_t next_ = kHeap + 0x1000;
};

// Writes tables of positions as V8 does.
class PositionTable {
 public:
  explicit PositionTable(bool breakable_bit) : breakable_bit_(breakable_bit) {}

  // Adds an entry: a character, in the call of that number, 0 for none.
  PositionTable& Add(uint32_t code, uint32_t character, uint16_t caller = 0) {
    const int64_t step = code - code_;
    code_ = code;
    Number(breakable_bit_ ? static_cast<uint64_t>(step) << 2 | 2 : Zigzag(-(step + 1)));
    const int64_t position = Position(character, caller);
    Number(Zigzag(position - position_));
    position_ = position;
    return *this;
  }
  static int64_t Position(uint32_t character, uint16_t caller) {
    return int64_t{caller} << 31 | int64_t{character + 1} << 1;
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

 private:
  static uint64_t Zigzag(int64_t value) {
    return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  }
  void Number(uint64_t bits) {
    for (; bits >= 0x80; bits >>= 7) bytes_.push_back(static_cast<uint8_t>(bits | 0x80));
    bytes_.push_back(static_cast<uint8_t>(bits));
  }

  bool breakable_bit_;
  uint32_t code_ = 0;
  int64_t position_ = 0;
  std::vector<uint8_t> bytes_;
};

}  // namespace firetower::testing
