// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/svg.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "profile/flame/label.h"
#include "profile/flame/xml_text.h"
#include "profile/value_text.h"

namespace firetower::profile {
namespace {

constexpr uint32_t kMinWidthPx = 200;
constexpr uint32_t kMaxWidthPx = 20'000;
constexpr double kMarginPx = 10;
constexpr double kHeadPx = 52;  // two lines of text
constexpr double kRowPx = 18;
constexpr double kMinBarPx = 0.5;  // nothing below it can be seen, and browsers slow down with bars
constexpr double kTextPx = 12;
// A monospaced character's width by its height; 0.6 in most fonts, a little room for the others.
constexpr double kCharPx = kTextPx * 0.61;

// Colours of bars are the same in both themes, so that two pictures compare; the rest follows.
constexpr std::string_view kStyle =
    "svg{background:#fff}text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1a1a1a}"
    ".head{font-size:14px;font-weight:bold}.bar:hover{stroke:#1a1a1a}.bar text{pointer-events:none}"
    "@media(prefers-color-scheme:dark){svg{background:#16181c}.head,.note{fill:#e6e6e6}"
    ".bar:hover{stroke:#fff}}";

class Drawing {
 public:
  Drawing(const Flame& flame, const FlameOptions& options)
      : flame_(flame), options_(options), width_px_(options.svg_width_px) {
    const auto& names = flame.levels.names;
    for (const FlameName& name : names) {
      texts_.push_back(XmlText(name.text));
      std::string_view path = name.module;
      std::string where(path.substr(path.rfind('/') + 1));
      if (std::string_view kind = KindWord(name.kind); !kind.empty()) {
        where += std::string(where.empty() ? "" : ", ").append(kind);
      }
      wheres_.push_back(where.empty() ? "" : XmlText(" (" + where + ")"));
    }
    double total = static_cast<double>(flame.levels.total());
    if (total > 0) px_per_value_ = (width_px_ - 2 * kMarginPx) / total;
  }

  std::string Draw() {
    const FlameLevels& levels = flame_.levels;
    out_ = Head();
    for (size_t level = 0; level < levels.level_count(); ++level) {
      for (uint32_t bar = levels.level_starts[level]; bar < levels.level_starts[level + 1]; ++bar) {
        Bar(bar, level);
      }
    }
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  std::string Head() const {
    const FlameInfo& info = flame_.info;
    const double rows = static_cast<double>(flame_.levels.level_count());
    const double height = kHeadPx + rows * kRowPx + kMarginPx;
    std::string title = XmlText(info.title.empty() ? "Flame graph" : info.title);
    std::string note = fmt::format("{}: {} in all", XmlText(info.value.type),
                                   XmlText(Value(flame_.levels.total())));
    if (flame_.levels.cut_nodes > 0) {
      note += fmt::format("; {} smaller bars are shown as 'other'",
                          FormatCount(static_cast<int64_t>(flame_.levels.cut_nodes)));
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n"
        "<style>{3}</style>\n<text class=\"head\" x=\"10\" y=\"20\">{2}</text>\n"
        "<text class=\"note\" x=\"10\" y=\"40\">{4}</text>\n",
        width_px_, height, title, kStyle, note);
  }

  // "1.5s, 0.10 cores"
  std::string Value(int64_t value) const {
    std::string text = FormatValue(static_cast<double>(value), flame_.info.value.unit);
    if (double cores = CoresOf(flame_.info, value); cores > 0) {
      text += fmt::format(", {:.3g} cores", cores);
    }
    return text;
  }

  void Bar(uint32_t bar, size_t level) {
    const FlameBar& place = flame_.levels.bars[bar];
    const double width = static_cast<double>(place.total) * px_per_value_;
    if (width < kMinBarPx) return;
    const uint32_t id = flame_.levels.name_of[bar];
    const FlameName& name = flame_.levels.names[id];
    const double x = kMarginPx + static_cast<double>(place.x) * px_per_value_;
    const size_t row = options_.root_at_bottom ? flame_.levels.level_count() - 1 - level : level;
    const double y = kHeadPx + static_cast<double>(row) * kRowPx;
    const double percent =
        100.0 * static_cast<double>(place.total) / static_cast<double>(flame_.levels.total());
    auto out = std::back_inserter(out_);
    fmt::format_to(out, "<g class=\"bar\"><title>{}{}: {}, {:.2f}%", texts_[id], wheres_[id],
                   Value(place.total), percent);
    if (place.self > 0 && place.self < place.total) {
      fmt::format_to(out, "; itself {}", Value(place.self));
    }
    fmt::format_to(out,
                   "</title><rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" "
                   "fill=\"#{:06x}\"/>",
                   x, y, width, kRowPx - 1, ColorOf(name));
    Label(name, x, y, width);
    out_ += "</g>\n";
  }

  void Label(const FlameName& name, double x, double y, double width) {
    const auto room = static_cast<size_t>(width < 6 ? 0 : (width - 6) / kCharPx);
    std::string text = LabelFor(name.text, room);
    if (text.empty()) return;
    if (text == name.text && text.size() + KindMark(name.kind).size() <= room)
      text += KindMark(name.kind);
    fmt::format_to(std::back_inserter(out_), "<text x=\"{:.2f}\" y=\"{:.0f}\">{}</text>", x + 3,
                   y + 13, XmlText(text));
  }

  const Flame& flame_;
  const FlameOptions& options_;
  const double width_px_;
  double px_per_value_ = 0;
  std::vector<std::string> texts_;   // of names, escaped
  std::vector<std::string> wheres_;  // " (libc.so.6, inlined)"
  std::string out_;
};

}  // namespace

Result<std::string> EncodeSvg(const Profile& profile, const FlameOptions& options) {
  if (options.svg_width_px < kMinWidthPx || options.svg_width_px > kMaxWidthPx) {
    return Error(ErrorCode::kInvalid, fmt::format("a width of {} pixels: it must be from {} to {}",
                                                  options.svg_width_px, kMinWidthPx, kMaxWidthPx));
  }
  FlameOptions drawn = options;
  drawn.min_share = std::max(options.min_share, kMinBarPx / (options.svg_width_px - 2 * kMarginPx));
  ASSIGN_OR_RETURN(Flame flame, MakeFlame(profile, drawn));
  return FlameSvg(flame, drawn);
}

std::string FlameSvg(const Flame& flame, const FlameOptions& options) {
  return Drawing(flame, options).Draw();
}

}  // namespace firetower::profile
