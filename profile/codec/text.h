// SPDX-License-Identifier: Apache-2.0
// Helpers that the readers of text formats share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// Reads the lines of a text without their ends (\n or \r\n).
class LineReader {
 public:
  explicit LineReader(std::string_view text) : rest_(text) {}

  // Returns false at the end.
  bool Next(std::string_view* line);
  // The number of the line that was read last, from 1.
  size_t number() const { return number_; }

 private:
  std::string_view rest_;
  size_t number_ = 0;
};

inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }
std::string_view TrimLeft(std::string_view text);
std::string_view TrimRight(std::string_view text);

// Removes the first word of `*text` and the blanks around it, and returns the word; empty when
// there is none.
std::string_view TakeWord(std::string_view* text);

bool IsDigits(std::string_view text);
// Parses a number. Returns false when `text` holds anything else, or the number does not fit.
bool ParseWhole(std::string_view text, int64_t* out);
bool ParseHex(std::string_view text, uint64_t* out);

// Returns the start of a file's text in a form that an error message may show.
std::string Excerpt(std::string_view text);

// Makes a kCorrupt error: "<format> line <number>: <why>: '<excerpt>'". `sys_errno` is that of
// profile/import.h.
Error LineError(std::string_view format, size_t number, std::string_view why, std::string_view line,
                int sys_errno = 0);

}  // namespace firetower::profile
