// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/python_function.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/text/utf8.h"
#include "daemon/runtimes/byte_text.h"

namespace firetower::daemon {
namespace {

// The state of a string object, Include/cpython/unicodeobject.h: the width of its characters in
// bytes, and whether all are ASCII. Two bits lie before them; free-threaded builds differ.
struct StringState {
  uint32_t width = 0;
  bool ascii = false;
  bool compact = false;
};

StringState StateOf(uint32_t state) {
  const uint32_t bits = state >> 2;
  return {.width = bits & 7, .ascii = (bits >> 4 & 1) != 0, .compact = (bits >> 3 & 1) != 0};
}

// Returns nothing for a string whose characters are not behind its head: no function's name is one.
std::string TextOf(const ft_text& text, uint16_t minor) {
  const StringState state = StateOf(text.state);
  std::string out;
  if (!state.compact || (state.width != 1 && state.width != 2 && state.width != 4)) return out;
  // Other strings have utf8_length and utf8 between their head and their text, and before 3.12
  // wstr_length.
  const size_t skip = state.ascii ? 0 : minor >= 12 ? 16 : 24;
  const size_t bytes = std::min<size_t>(text.bytes, sizeof(text.text));
  const size_t there = bytes > skip ? (bytes - skip) / state.width : 0;
  const size_t count = std::min<uint64_t>(there, text.length);
  for (size_t i = 0; i < count; ++i) {
    uint32_t character = 0;
    std::memcpy(&character, text.text + skip + i * state.width, state.width);
    AppendUtf8(character, out);
  }
  if (count < text.length) out += "…";
  return out;
}

// Reads a number of 6 bits a byte, the last without bit 6. Returns false at the end.
bool ReadVarint(std::string_view lines, size_t& at, uint32_t& value) {
  value = 0;
  for (uint32_t shift = 0; at < lines.size() && shift < 30; shift += 6) {
    const auto byte = static_cast<uint8_t>(lines[at++]);
    value |= (byte & 63u) << shift;
    if ((byte & 64u) == 0) return true;
  }
  return false;
}

// Returns the line, or the function's own if it can be none.
uint32_t Bounded(int64_t line, uint32_t first_line) {
  const bool known = line > 0 && line <= std::numeric_limits<int32_t>::max();
  return known ? static_cast<uint32_t>(line) : first_line;
}

// 3.8 and 3.9: pairs of how far the instruction and the line go on, the line as a signed byte.
uint32_t LineOfStep(std::string_view lines, uint32_t first_line, uint32_t position) {
  int64_t line = first_line;
  uint64_t begin = 0;
  if (position > std::numeric_limits<int32_t>::max()) return first_line;
  for (size_t at = 0; at + 1 < lines.size(); at += 2) {
    begin += static_cast<uint8_t>(lines[at]);
    if (begin > position) break;
    line += static_cast<int8_t>(lines[at + 1]);
  }
  return Bounded(line, first_line);
}

// 3.10: pairs of how many bytes an entry has, and by how much its line differs; -128: it has none.
uint32_t LineOfRange(std::string_view lines, uint32_t first_line, uint64_t position) {
  constexpr int8_t kNone = -128;
  int64_t line = first_line;
  uint64_t end = 0;
  for (size_t at = 0; at + 1 < lines.size(); at += 2) {
    const auto difference = static_cast<int8_t>(lines[at + 1]);
    end += static_cast<uint8_t>(lines[at]);
    if (difference != kNone) line += difference;
    if (position < end) return difference != kNone ? Bounded(line, first_line) : first_line;
  }
  return first_line;
}

// 3.11 and newer: entries of a code, a length and what the code says.
uint32_t LineOfLocation(std::string_view lines, uint32_t first_line, uint32_t position) {
  constexpr uint32_t kShortLast = 9, kOneLineLast = 12, kNoColumns = 13, kLong = 14, kNone = 15;
  int64_t line = first_line;
  uint64_t begin = 0;
  for (size_t at = 0; at < lines.size();) {
    const auto head = static_cast<uint8_t>(lines[at++]);
    if ((head & 128) == 0) return first_line;
    const uint32_t code = head >> 3 & 15;
    const uint64_t end = begin + (uint64_t{head & 7u} + 1) * 2;
    uint32_t number = 0;
    if (code > kShortLast && code <= kOneLineLast) {
      line += code - kShortLast - 1;
    } else if (code == kNoColumns || code == kLong) {
      if (!ReadVarint(lines, at, number)) return first_line;
      line += (number & 1) != 0 ? -static_cast<int64_t>(number >> 1) : number >> 1;
    }
    // The columns that follow do not matter: the next entry begins at the next byte with bit 7.
    while (at < lines.size() && (static_cast<uint8_t>(lines[at]) & 128) == 0) ++at;
    if (position < end) {
      return code != kNone ? Bounded(line, first_line) : first_line;
    }
    begin = end;
  }
  return first_line;
}

}  // namespace

Status ReadRecordHead(std::span<const std::byte> record, ft_function& head) {
  constexpr size_t kHead = offsetof(ft_function, lines);
  if (record.size() < kHead) return Error(ErrorCode::kCorrupt, "a function's record is too short");
  std::memcpy(static_cast<void*>(&head), record.data(), kHead);
  if (head.lines_bytes > record.size() - kHead || head.lines_bytes > FT_FUNCTION_LINES)
    return Error(ErrorCode::kCorrupt, "a function's record is shorter than it says");
  return {};
}

std::string_view LinesOf(std::span<const std::byte> record, const ft_function& head) {
  constexpr size_t kHead = offsetof(ft_function, lines);
  return {reinterpret_cast<const char*>(record.data()) + kHead, head.lines_bytes};
}

Result<ReadFunction> ReadNamedRecord(std::span<const std::byte> record, NameRecord name_of) {
  ft_function from;
  RETURN_IF_ERROR(ReadRecordHead(record, from));
  ReadFunction read;
  read.minor = kPositionIsLine;
  read.function.file = TextOfBytes(from.file);
  read.function.first_line = from.first_line;
  const std::string class_name = TextOfBytes(LinesOf(record, from), from.lines_size);
  read.function.name = name_of(from, class_name, read.function.file);
  if (read.function.name.empty())
    return Error(ErrorCode::kCorrupt, "a function's record has no name");
  return read;
}

Result<ReadFunction> ReadFunctionRecord(std::span<const std::byte> record) {
  ft_function from;
  RETURN_IF_ERROR(ReadRecordHead(record, from));
  ReadFunction function;
  function.minor = from.minor;
  function.function.name = TextOf(from.name, from.minor);
  function.function.file = TextOf(from.file, from.minor);
  function.function.first_line = from.first_line;
  if (function.function.name.empty())
    return Error(ErrorCode::kCorrupt, "a function's record has no name");
  function.lines = LinesOf(record, from);
  return function;
}

uint32_t LineOf(uint16_t minor, std::string_view lines, uint32_t first_line, uint32_t position) {
  if (minor >= 11) return LineOfLocation(lines, first_line, position);
  return minor == 10 ? LineOfRange(lines, first_line, uint64_t{position} * 2)
                     : LineOfStep(lines, first_line, position);
}

}  // namespace firetower::daemon
