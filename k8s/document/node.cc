// SPDX-License-Identifier: Apache-2.0
#include "k8s/document/node.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/json.h"

namespace firetower::k8s {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

template <size_t N>
bool IsOneOf(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// yaml.org/type/bool.html, as go-yaml resolves it.
constexpr std::array<std::string_view, 20> kLooseBools = {
    "True", "TRUE", "False", "FALSE", "yes", "Yes", "YES", "no", "No", "NO",
    "on",   "On",   "ON",    "off",   "Off", "OFF", "y",   "Y",  "n",  "N"};
constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 6> kSpecialFloats = {".inf", ".Inf", ".INF",
                                                            ".nan", ".NaN", ".NAN"};

bool IsFloat(std::string_view text) {
  size_t digits = 0;
  size_t i = 0;
  while (i < text.size() && IsDigit(text[i])) ++i, ++digits;
  if (i < text.size() && text[i] == '.') {
    ++i;
    while (i < text.size() && IsDigit(text[i])) ++i, ++digits;
  }
  if (digits == 0) return false;
  if (i == text.size()) return true;
  if (text[i] != 'e' && text[i] != 'E') return false;
  ++i;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  return AllDigits(text.substr(i));
}

// 010, 0o10, 0x1F, 0b1, 1_000 and 1:30 (sexagesimal): numbers to one YAML, text or others to
// another.
bool IsLooseNumber(std::string_view text) {
  if (text.size() > 2 && text[0] == '0') {
    const char base = text[1];
    if (base == 'x' || base == 'o' || base == 'b') {
      const auto digit = [](char c) {
        return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '_';
      };
      return std::all_of(text.begin() + 2, text.end(), digit);
    }
  }
  return !text.empty() && IsDigit(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return IsDigit(c) || c == '_' || c == ':' || c == '.';
  }) && std::count(text.begin(), text.end(), '.') <= 1;
}

}  // namespace

const Node* Node::Find(std::string_view key) const {
  for (const NodeEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string Describe(const Node& node) {
  constexpr size_t kShown = 60;
  std::string text = ToValidUtf8(node.text.substr(0, kShown));
  if (node.text.size() > kShown) text += "…";
  switch (node.kind) {
    case NodeKind::kNull:
      return "nothing (null)";
    case NodeKind::kBool:
    case NodeKind::kLooseBool:
      return fmt::format("the boolean {}", text);
    case NodeKind::kInteger:
    case NodeKind::kLooseNumber:
    case NodeKind::kFloat:
      return fmt::format("the number {}", text);
    case NodeKind::kString:
      return fmt::format("the string \"{}\"", text);
    case NodeKind::kMap:
      return "a map";
    case NodeKind::kList:
      return "a list";
  }
  return "";
}

NodeKind KindOfPlainScalar(std::string_view text) {
  if (IsOneOf(text, kNulls)) return NodeKind::kNull;
  if (text == "true" || text == "false") return NodeKind::kBool;
  if (IsOneOf(text, kLooseBools)) return NodeKind::kLooseBool;
  const bool minus = text[0] == '-';
  const bool sign = minus || text[0] == '+';
  const std::string_view number = sign ? text.substr(1) : text;
  if (AllDigits(number) && (number[0] != '0' || number.size() == 1))
    return !sign || (minus && number != "0") ? NodeKind::kInteger : NodeKind::kLooseNumber;
  if (AllDigits(number)) return NodeKind::kLooseNumber;  // a leading zero: octal to YAML 1.1
  if (IsFloat(number) || IsOneOf(number, kSpecialFloats)) return NodeKind::kFloat;
  if (IsLooseNumber(number)) return NodeKind::kLooseNumber;
  return NodeKind::kString;
}

}  // namespace firetower::k8s
