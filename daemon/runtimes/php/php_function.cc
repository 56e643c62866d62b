// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/php/php_function.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "base/json.h"

namespace firetower::daemon {
namespace {

constexpr uint32_t kEval = 4;  // ZEND_EVAL_CODE, Zend/zend_compile.h

// A name of PHP's may have any bytes; what follows a zero is not for people, as the place of a
// nameless class.
std::string TextOf(std::string_view bytes, uint64_t length) {
  std::string text = ToValidUtf8(bytes.substr(0, bytes.find('\0')));
  if (!text.empty() && bytes.size() < length) text += "…";
  return text;
}

std::string TextOf(const ft_text& text) {
  const size_t bytes = std::min<size_t>(text.bytes, sizeof(text.text));
  return TextOf({reinterpret_cast<const char*>(text.text), bytes}, text.length);
}

std::string NameOf(const ft_function& record, std::string_view class_name, std::string_view file) {
  std::string name = TextOf(record.name);
  if (name.empty() && record.name.length == 0) {
    if (record.file.state == kEval) return "eval";
    if (file.empty()) return {};
    if ((record.name.state & FT_PHP_MAIN) != 0) return "{main}";
    return "include " + std::string(file.substr(file.rfind('/') + 1));
  }
  if (name.empty() || class_name.empty()) return name;
  return std::string(class_name) + "::" + name;
}

}  // namespace

Result<ReadFunction> ReadPhpRecord(std::span<const std::byte> record) {
  constexpr size_t kHead = offsetof(ft_function, lines);
  ft_function from;
  if (record.size() < kHead) return Error(ErrorCode::kCorrupt, "a function's record is too short");
  std::memcpy(static_cast<void*>(&from), record.data(), kHead);
  if (from.lines_bytes > record.size() - kHead || from.lines_bytes > FT_FUNCTION_LINES)
    return Error(ErrorCode::kCorrupt, "a function's record is shorter than it says");
  ReadFunction read;
  read.minor = kPositionIsLine;
  read.function.file = TextOf(from.file);
  read.function.first_line = from.first_line;
  const std::string class_name = TextOf(
      {reinterpret_cast<const char*>(record.data()) + kHead, from.lines_bytes}, from.lines_size);
  read.function.name = NameOf(from, class_name, read.function.file);
  if (read.function.name.empty())
    return Error(ErrorCode::kCorrupt, "a function's record has no name");
  return read;
}

}  // namespace firetower::daemon
