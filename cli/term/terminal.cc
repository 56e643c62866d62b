// SPDX-License-Identifier: Apache-2.0
#include "cli/term/terminal.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace firetower::cli {
namespace {

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool WantsColor(std::string_view flag, bool is_tty) {
  if (flag == "always") return true;
  if (flag == "never") return false;
  if (!Environment("NO_COLOR").empty()) return false;
  std::string_view force = Environment("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return is_tty && Environment("TERM") != "dumb" && !Environment("TERM").empty();
}

// POSIX: the first of these that is set decides.
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(Environment(name));
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

std::string_view Code(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "1";
    case Style::kGood:
      return "32";
    case Style::kWarn:
      return "33";
    case Style::kBad:
      return "31";
    case Style::kDim:
      return "2";
  }
  return "";
}

}  // namespace

Terminal ReadTerminal(std::string_view color_flag) {
  Terminal terminal;
  terminal.is_tty = ::isatty(STDOUT_FILENO) == 1;
  terminal.color = WantsColor(color_flag, terminal.is_tty);
  terminal.utf8 = LocaleIsUtf8();
  winsize size{};
  if (terminal.is_tty && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    terminal.columns = size.ws_col;
    terminal.rows = size.ws_row;
  }
  return terminal;
}

Status WriteOut(std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError("standard output");
    text.remove_prefix(static_cast<size_t>(n));
  }
  return OkStatus();
}

std::string Styled(const Terminal& terminal, Style style, std::string_view text) {
  if (!terminal.color || style == Style::kPlain) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", Code(style), text);
}

}  // namespace firetower::cli
