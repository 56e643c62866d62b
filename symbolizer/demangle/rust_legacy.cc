// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle/rust_legacy.h"

#include <algorithm>
#include <charconv>

#include "symbolizer/demangle/utf8.h"

namespace firetower::symbolizer {

namespace {

// Path elements hold only what linkers like; rustc writes the rest as $NAME$
// (rustc_symbol_mangling, legacy.rs, sanitize()).
struct Escape {
  std::string_view name;
  std::string_view text;
};
constexpr Escape kEscapes[] = {{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"},
                               {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","}};

// "$u7e$": a code point in hex.
bool AppendCodePoint(std::string_view hex, std::string& out) {
  uint32_t code_point = 0;
  auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code_point, 16);
  if (error != std::errc() || end != hex.data() + hex.size()) return false;
  if (code_point < 0x20 || code_point == 0x7f) return false;  // control characters
  return AppendUtf8(code_point, out);
}

bool AppendEscape(std::string_view name, std::string& out) {
  for (const Escape& escape : kEscapes) {
    if (escape.name == name) {
      out += escape.text;
      return true;
    }
  }
  return name.starts_with('u') && AppendCodePoint(name.substr(1), out);
}

void AppendElement(std::string_view element, std::string& out) {
  // An element that would start with '$' gets a '_' before it.
  if (element.starts_with("_$")) element.remove_prefix(1);
  while (!element.empty()) {
    if (element.starts_with("..")) {
      out += "::";
      element.remove_prefix(2);
      continue;
    }
    size_t close = element[0] == '$' ? element.find('$', 1) : std::string_view::npos;
    if (close != std::string_view::npos && AppendEscape(element.substr(1, close - 1), out)) {
      element.remove_prefix(close + 1);
      continue;
    }
    out += element[0];
    element.remove_prefix(1);
  }
}

bool IsHash(std::string_view element) {
  return element.size() == 17 && element[0] == 'h' &&
         std::all_of(element.begin() + 1, element.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::optional<std::string> DemangleRustLegacy(std::string_view mangled) {
  // The last element is a hash; most names are C++ and have none.
  if (!mangled.starts_with("_ZN") || mangled.find("17h") == std::string_view::npos) {
    return std::nullopt;
  }
  mangled.remove_prefix(3);
  std::string out;
  std::string_view last;
  while (!mangled.empty() && mangled[0] != 'E') {
    size_t length = 0;
    auto [end, error] = std::from_chars(mangled.data(), mangled.data() + mangled.size(), length);
    if (error != std::errc() || length == 0) return std::nullopt;
    mangled.remove_prefix(static_cast<size_t>(end - mangled.data()));
    if (length > mangled.size()) return std::nullopt;
    if (!last.empty()) {  // one behind: the last element is the hash
      if (!out.empty()) out += "::";
      AppendElement(last, out);
    }
    last = mangled.substr(0, length);
    mangled.remove_prefix(length);
  }
  if (mangled.empty() || !IsHash(last) || out.empty()) return std::nullopt;
  mangled.remove_prefix(1);
  // LLVM's own marks say nothing to a reader; others (".cold") do.
  if (!mangled.starts_with(".llvm.")) out += mangled;
  return out;
}

}  // namespace firetower::symbolizer
