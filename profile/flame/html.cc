// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/html.h"

#include <fmt/core.h>

#include <initializer_list>
#include <string_view>
#include <utility>

#include "profile/flame/levels_json.h"
#include "profile/flame/page_parts.h"
#include "profile/flame/xml_text.h"

namespace firetower::profile {
namespace {

using Parts = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// Fills the template in one pass: inserted text is never scanned again.
std::string Fill(std::string_view page, Parts parts) {
  std::string out;
  while (true) {
    size_t begin = page.find("{{");
    out += page.substr(0, begin);
    if (begin == std::string_view::npos) return out;
    page.remove_prefix(begin + 2);
    size_t end = page.find("}}");
    for (const auto& [name, value] : parts) {
      if (name == page.substr(0, end)) out += value;
    }
    page.remove_prefix(end == std::string_view::npos ? page.size() : end + 2);
  }
}

// JSON that cannot end the element it stands in: of <, > and &, which JSON has inside of strings
// only, nothing is left (HTML §13.2.5.4 looks for `</script` and `<!--`).
std::string ScriptSafe(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

// Nothing but the page's own style and script, by their hashes.
std::string Policy() {
  return fmt::format(
      "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; "
      "form-action 'none'",
      kPageStyleHash, kPageScriptHash);
}

}  // namespace

Result<std::string> EncodeFlameHtml(const Profile& profile, const FlameOptions& options,
                                    std::string_view type) {
  ASSIGN_OR_RETURN(Flame flame, MakeFlame(profile, options));
  return FlameHtml(flame, options, type);
}

std::string FlameHtml(const Flame& flame, const FlameOptions& options, std::string_view type) {
  std::string title = XmlText(flame.info.title.empty() ? "Flame graph" : flame.info.title);
  return Fill(kPageTemplate, {{"policy", Policy()},
                              {"title", title},
                              {"style", kPageStyle},
                              {"script", kPageScript},
                              {"orientation", options.root_at_bottom ? "flame" : "icicle"},
                              {"data", ScriptSafe(FlameLevelsJson(flame, type))}});
}

}  // namespace firetower::profile
