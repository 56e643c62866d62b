// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/php/php_function.h"

#include <string>
#include <string_view>

#include "daemon/runtimes/byte_text.h"

namespace firetower::daemon {
namespace {

constexpr uint32_t kEval = 4;  // ZEND_EVAL_CODE, Zend/zend_compile.h

std::string NameOf(const ft_function& record, std::string_view class_name, std::string_view file) {
  std::string name = TextOfBytes(record.name);
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
  return ReadNamedRecord(record, NameOf);
}

}  // namespace firetower::daemon
