// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/xml_text.h"

#include "base/json.h"

namespace firetower::profile {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Nothing where the character may stand as it is.
std::string_view Escaped(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\t':
    case '\n':
    case '\r':
      return " ";
    default:
      return static_cast<unsigned char>(c) < 0x20 ? kReplacement : "";
  }
}

}  // namespace

std::string XmlText(std::string_view text) {
  std::string valid = ToValidUtf8(text);
  std::string out;
  out.reserve(valid.size());
  for (size_t i = 0; i < valid.size(); ++i) {
    std::string_view rest = std::string_view(valid).substr(i);
    // U+FFFE and U+FFFF, the two that XML 1.0 §2.2 leaves out beside controls and surrogates.
    if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      out += kReplacement;
      i += 2;
      continue;
    }
    std::string_view escaped = Escaped(valid[i]);
    if (escaped.empty()) {
      out += valid[i];
    } else {
      out += escaped;
    }
  }
  return out;
}

}  // namespace firetower::profile
