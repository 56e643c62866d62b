// SPDX-License-Identifier: Apache-2.0
// Structured logs, one line each on standard error: logfmt, or JSON when asked for.
//
//   LOG(kWarn, "policy file refused", {{"file", path}, {"error", error.message()}});
//
// Never on the per-sample path. An error is logged once, where it is handled.
#pragma once

#include <fmt/core.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace firetower {

enum class LogLevel { kDebug, kInfo, kWarn, kError };
enum class LogFormat { kText, kJson };

// One key and its value; numbers and strings alike are written as text.
class LogField {
 public:
  template <typename T>
  LogField(std::string_view key, const T& value) : key_(key), value_(fmt::format("{}", value)) {}
  std::string_view key() const { return key_; }
  const std::string& value() const { return value_; }

 private:
  std::string_view key_;
  std::string value_;
};

void SetLogLevel(LogLevel level);
void SetLogFormat(LogFormat format);
bool LogEnabled(LogLevel level);
// Returns the line, without its newline, that would be written at `wall_ns`. Exposed for tests.
std::string FormatLogLine(LogFormat format, LogLevel level, int64_t wall_ns,
                          std::string_view message, std::initializer_list<LogField> fields);
void WriteLog(LogLevel level, std::string_view message, std::initializer_list<LogField> fields);

}  // namespace firetower

#define LOG(level, ...)                                                \
  do {                                                                 \
    if (::firetower::LogEnabled(::firetower::LogLevel::level)) {       \
      ::firetower::LogCall(::firetower::LogLevel::level, __VA_ARGS__); \
    }                                                                  \
  } while (0)

namespace firetower {
inline void LogCall(LogLevel level, std::string_view message,
                    std::initializer_list<LogField> fields = {}) {
  WriteLog(level, message, fields);
}
}  // namespace firetower
