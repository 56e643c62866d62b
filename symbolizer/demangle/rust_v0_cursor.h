// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace firetower::symbolizer {

// The lexical level of the v0 mangling: what the grammar's productions are made of. After the first
// malformed byte ok() is false and everything reads as empty.
class RustV0Cursor {
 public:
  struct Identifier {
    std::string_view bytes;
    bool punycode = false;
    uint64_t disambiguator = 0;
  };

  // `text` starts behind "_R": back references count from there.
  explicit RustV0Cursor(std::string_view text) : text_(text) {}

  bool ok() const { return ok_; }
  void Fail() { ok_ = false; }
  size_t position() const { return position_; }
  void set_position(size_t position) { position_ = position; }
  std::string_view rest() const { return text_.substr(position_); }

  char Peek() const { return ok_ && position_ < text_.size() ? text_[position_] : '\0'; }
  char Next();
  bool Take(char wanted);
  uint64_t Base62();                     // base-62-number
  uint64_t OptionalBase62(char prefix);  // 0 when absent, else its value + 1
  Identifier TakeIdentifier();           // [disambiguator] undisambiguated-identifier
  Identifier TakePlainIdentifier();      // undisambiguated-identifier
  std::string_view HexNibbles();         // {hex-digit} "_"

 private:
  std::string_view text_;
  size_t position_ = 0;
  bool ok_ = true;
};

// Appends the identifier, decoding punycode (RFC 3492 with '_' for '-'). False: malformed.
bool AppendIdentifier(const RustV0Cursor::Identifier& identifier, std::string& out);

}  // namespace firetower::symbolizer
