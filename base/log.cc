// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <ctime>

#include "base/clock.h"
#include "base/json.h"

namespace firetower {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kInfo};  // Set once by main before threads start.
std::atomic<LogFormat> g_format{LogFormat::kText};

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

std::string Rfc3339(int64_t wall_ns) {
  time_t seconds = wall_ns / kNsPerSecond;
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", text, wall_ns % kNsPerSecond / kNsPerMs);
}

bool NeedsQuotes(std::string_view value) {
  if (value.empty()) return true;
  for (char c : value) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f) return true;
  }
  return false;
}

std::string Quoted(std::string_view value) {
  return NeedsQuotes(value) ? '"' + JsonEscape(value) + '"' : std::string(value);
}

}  // namespace

void SetLogLevel(LogLevel level) { g_level = level; }
void SetLogFormat(LogFormat format) { g_format = format; }
bool LogEnabled(LogLevel level) { return level >= g_level.load(std::memory_order_relaxed); }

std::string FormatLogLine(LogFormat format, LogLevel level, int64_t wall_ns,
                          std::string_view message, std::initializer_list<LogField> fields) {
  std::string line;
  if (format == LogFormat::kJson) {
    line = fmt::format(R"({{"time":"{}","level":"{}","msg":"{}")", Rfc3339(wall_ns),
                       LevelName(level), JsonEscape(message));
    for (const LogField& field : fields) {
      line += fmt::format(R"(,"{}":"{}")", JsonEscape(field.key()), JsonEscape(field.value()));
    }
    return line + "}";
  }
  line =
      fmt::format("time={} level={} msg={}", Rfc3339(wall_ns), LevelName(level), Quoted(message));
  for (const LogField& field : fields) {
    line += fmt::format(" {}={}", field.key(), Quoted(field.value()));
  }
  return line;
}

void WriteLog(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  std::string line =
      FormatLogLine(g_format, level, Clock::System().WallNs(), message, fields) + "\n";
  // One write, so that lines of several threads never mix; a lost log line is not worth a retry.
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace firetower
