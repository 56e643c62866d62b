// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/label_text.h"

#include <fmt/core.h>

#include <cstdint>

#include "base/json_escape.h"

namespace firetower::daemon {
namespace {

constexpr size_t kHashBytes = 9;  // '~' and eight digits

uint32_t Fnv1a(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

// Whether the '<' or '>' that follows `before` belongs to an operator's name ("operator<<",
// "operator->") or an arrow, so that it opens and closes nothing.
bool IsOperatorSign(std::string_view before, char sign) {
  if (sign == '>' && before.ends_with('-')) return true;
  for (std::string_view tail : {"operator", "operator<", "operator>", "operator<="}) {
    if (before.ends_with(tail)) return true;
  }
  return false;
}

// Whether '<' after `before` opens template arguments. Rust's qualified paths ("<T as Trait>::f")
// and our own "<lambda" pieces begin with a bracket instead.
bool OpensArguments(std::string_view before) {
  if (before.empty()) return false;
  char last = before.back();
  return last != ' ' && last != '(' && last != ',' && last != '&' && last != '*' && last != '<';
}

std::string WithoutTemplateArguments(std::string_view name) {
  std::string out;
  size_t dropped = 0;  // depth of brackets inside the arguments that are left out
  size_t kept = 0;     // depth of brackets that stay
  for (size_t i = 0; i < name.size(); ++i) {
    char c = name[i];
    bool sign = (c == '<' || c == '>') && IsOperatorSign(name.substr(0, i), c);
    if (!sign && c == '<') {
      // "operator< <int>": the demangler parts the sign from its arguments.
      bool after_operator = out.ends_with("operator< ") || out.ends_with("operator<< ");
      if (dropped > 0 || after_operator || OpensArguments(out)) {
        if (dropped == 0 && out.ends_with(' ')) out.pop_back();
        if (dropped == 0 && out.ends_with("::")) out.resize(out.size() - 2);  // Rust: f::<T>
        ++dropped;
        continue;
      }
      ++kept;
    } else if (!sign && c == '>') {
      if (dropped > 0) {
        --dropped;
        continue;
      }
      if (kept == 0) return std::string(name);
      --kept;
    }
    if (dropped == 0) out += c;
  }
  return dropped == 0 && kept == 0 ? out : std::string(name);
}

}  // namespace

std::string FunctionLabel(std::string_view demangled) {
  std::string label = WithoutTemplateArguments(ToValidUtf8(demangled));
  if (label.size() <= kMaxFunctionLabelBytes) return label;
  uint32_t hash = Fnv1a(label);
  size_t end = kMaxFunctionLabelBytes - kHashBytes;
  // Not in the middle of a character: continuation bytes are 10xxxxxx.
  while (end > 0 && (static_cast<unsigned char>(label[end]) & 0xC0) == 0x80) --end;
  return fmt::format("{}~{:08x}", std::string_view(label).substr(0, end), hash);
}

void AppendLabelValue(std::string& out, std::string_view value) {
  for (char c : ToValidUtf8(value)) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '"':
        out += "\\\"";
        break;
      case '\n':
        out += "\\n";
        break;
      default:
        out += c;
    }
  }
}

}  // namespace firetower::daemon
