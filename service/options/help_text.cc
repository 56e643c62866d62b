// SPDX-License-Identifier: Apache-2.0
#include "service/options/help_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace firetower::service {
namespace {

constexpr size_t kIndent = 6;

// `text` broken at spaces into lines of at most `width`, each indented.
std::string Wrapped(std::string_view text, size_t width) {
  std::string out;
  size_t column = 0;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column != 0 && column + 1 + word.size() > width) {
      out += '\n';
      column = 0;
    }
    out += column == 0 ? std::string(kIndent, ' ') : " ";
    column += (column == 0 ? kIndent : 1) + word.size();
    out += word;
  }
  return out + "\n";
}

std::string Spelling(const Option& option) {
  return option.is_switch() ? fmt::format("--{}", option.name)
                            : fmt::format("--{} {}", option.name, option.placeholder);
}

std::string Default(const Option& option) {
  if (!option.default_text.empty()) return std::string(option.default_text);
  std::string value = option.value.get();
  return value.empty() ? "none" : value;
}

std::string EscapedCell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string OptionsHelp(std::span<const Option> options, size_t width) {
  std::string out;
  std::string_view group;
  for (const Option& option : options) {
    if (option.group != group) out += fmt::format("\n{}:\n", option.group);
    group = option.group;
    out += "  " + Spelling(option) + "\n" + Wrapped(option.help, width);
    out += Wrapped(fmt::format("Allowed: {}. Default: {}.", option.value.allowed, Default(option)),
                   width);
  }
  return out;
}

std::string MarkdownRow(const Option& option) {
  return fmt::format("| `{}` | `{}` | {} | {} |\n", EscapedCell(Spelling(option)), Default(option),
                     EscapedCell(option.value.allowed), EscapedCell(option.help));
}

}  // namespace firetower::service
