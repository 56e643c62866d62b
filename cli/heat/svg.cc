// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/heat/picture.h"
#include "profile/flame/label.h"
#include "profile/flame/xml_text.h"
#include "query/time_range.h"

namespace firetower::cli {
namespace {

// Even steps of lightness, for a light and a dark ground; and blue ones for what is painted.
constexpr std::array kLight = {"#f8dda6", "#fbc167", "#fba32c", "#f18800", "#e26e02", "#d45300",
                               "#be3d1d", "#9f3430", "#7e3037", "#5b2d36", "#3d262d"};
constexpr std::array kDark = {"#32164d", "#561661", "#7c1568", "#a21b64", "#c32e58", "#dc4c49",
                              "#ec6f3f", "#f39349", "#f4b66b", "#f3d699", "#f8f2cc"};
constexpr size_t kSteps = kLight.size();

constexpr double kLeftPx = 70;
constexpr double kTopPx = 56;
constexpr double kBottomPx = 26;
constexpr double kRightPx = 14;
constexpr double kMaxWidthPx = 1400;
constexpr double kMaxHeightPx = 600;
// Widths of characters of a monospaced font, 12 and 14 px high, with a little room.
constexpr double kCharPx = 7.4;
constexpr double kHeadCharPx = 8.7;

std::string Style() {
  std::string light, dark;
  for (size_t i = 0; i < kSteps; ++i) {
    light += fmt::format(".h{}{{fill:{}}}", i, kLight[i]);
    dark += fmt::format(".h{}{{fill:{}}}", i, kDark[i]);
  }
  return "svg{background:#fff}.ground{fill:#f6f4f1}.coarse{fill:#d8d4cf}"
         "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1a1a1a}"
         ".head{font-size:14px;font-weight:bold}.paint{fill:#1668c7}" +
         light +
         "@media(prefers-color-scheme:dark){svg{background:#0e1014}.ground{fill:#15171c}"
         ".coarse{fill:#2d3038}text{fill:#e6e6e6}.paint{fill:#57b6ff}" +
         dark + "}";
}

class Drawing {
 public:
  Drawing(const query::HeatReply& heat, HeatScale scale) : heat_(heat), shades_(heat.cells, scale) {
    const double columns = static_cast<double>(std::max<int64_t>(heat.columns, 1));
    const double rows = static_cast<double>(std::max<size_t>(heat.rows.size(), 1));
    cell_x_ = std::clamp(kMaxWidthPx / columns, 0.5, 12.0);
    cell_y_ = heat.row_ms > 0 ? std::clamp(kMaxHeightPx / rows, 4.0, 8.0) : 14;
    width_ = cell_x_ * columns;
    height_ = cell_y_ * rows;
    for (const std::string& row : heat.rows) {
      if (heat.row_ms == 0)
        left_ =
            std::max(left_, kCharPx * static_cast<double>(std::min<size_t>(row.size(), 40)) + 16);
    }
  }

  std::string Draw(std::string_view title) {
    const std::string note_text = HeatNote(heat_);
    const std::string head = profile::XmlText(title), note = profile::XmlText(note_text);
    const double all_width =
        std::max({left_ + width_ + kRightPx, 20 + kHeadCharPx * static_cast<double>(title.size()),
                  20 + kCharPx * static_cast<double>(note_text.size())});
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}: "
        "{3}\">\n<style>{4}</style>\n"
        "<text class=\"head\" x=\"10\" y=\"20\">{2}</text>\n<text x=\"10\" y=\"40\">{3}</text>\n"
        "<rect class=\"ground\" x=\"{5:.1f}\" y=\"{6:.0f}\" width=\"{7:.1f}\" "
        "height=\"{8:.1f}\"/>\n",
        all_width, kTopPx + height_ + kBottomPx, head, note, Style(), left_, kTopPx, width_,
        height_);
    Coarse();
    for (size_t step = 0; step < kSteps; ++step) Cells(step);
    Painted();
    Labels();
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  size_t StepOf(uint32_t count) const {
    const double steps = static_cast<double>(kSteps);
    return static_cast<size_t>(
        std::clamp(std::ceil(shades_.Of(count) * steps) - 1, 0.0, steps - 1));
  }

  // A rectangle of a path, whose cells lie one above the other.
  void Rectangle(int64_t column, size_t row, size_t rows) {
    out_ += fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z",
                        left_ + cell_x_ * static_cast<double>(column),
                        kTopPx + cell_y_ * static_cast<double>(row), cell_x_,
                        cell_y_ * static_cast<double>(rows), cell_x_);
  }

  // Draws all cells for which `is_wanted` holds, as one path.
  template <typename IsWanted>
  void Path(std::string_view name, const IsWanted& is_wanted) {
    out_ += fmt::format("<path class=\"{}\" d=\"", name);
    const size_t rows = heat_.rows.size();
    for (int64_t column = 0; column < heat_.columns; ++column) {
      for (size_t row = 0; row < rows; ++row) {
        const size_t begin = row;
        while (row < rows && is_wanted(heat_.At(column, row))) ++row;
        if (row > begin) Rectangle(column, begin, row - begin);
      }
    }
    out_ += "\"/>\n";
  }

  void Cells(size_t step) {
    Path(fmt::format("h{}", step),
         [&](size_t cell) { return heat_.cells[cell] > 0 && StepOf(heat_.cells[cell]) == step; });
  }
  void Painted() {
    if (heat_.painted.empty()) return;
    Path("paint", [&](size_t cell) { return heat_.painted[cell] > 0; });
  }
  void Coarse() {
    out_ += "<path class=\"coarse\" d=\"";
    for (int64_t column = 0; column < heat_.columns; ++column) {
      if (heat_.known[static_cast<size_t>(column)] == 'c') Rectangle(column, 0, heat_.rows.size());
    }
    out_ += "\"/>\n";
  }

  void Labels() {
    const size_t rows = heat_.rows.size();
    const size_t each = heat_.row_ms > 0 ? std::max<size_t>(rows / 5, 1) : 1;
    for (size_t row = 0; row < rows; row += each) {
      const std::string text =
          heat_.row_ms > 0 ? heat_.rows[row] + " ms" : profile::CutEnd(heat_.rows[row], 40);
      out_ +=
          fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left_ - 6,
                      kTopPx + cell_y_ * static_cast<double>(row) + 10, profile::XmlText(text));
    }
    constexpr double kEachPx = 110;
    const auto columns = static_cast<int64_t>(std::ceil(kEachPx / cell_x_));
    for (int64_t column = 0; column < heat_.columns; column += columns) {
      // A time that would not fit is left out, not cut.
      if (column > 0 && static_cast<double>(heat_.columns - column) * cell_x_ < 8 * kCharPx) break;
      const int64_t ms = heat_.begin_ms + column * heat_.column_ms;
      out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                          left_ + cell_x_ * static_cast<double>(column), kTopPx + height_ + 16,
                          query::FormatTimeUtc(ms / 1000 * kNsPerSecond).substr(11, 8) +
                              (column == 0 ? " UTC" : ""));
    }
  }

  const query::HeatReply& heat_;
  const HeatShades shades_;
  double left_ = kLeftPx;
  double cell_x_ = 1;
  double cell_y_ = 1;
  double width_ = 0;
  double height_ = 0;
  std::string out_;
};

}  // namespace

std::string HeatSvg(const query::HeatReply& heat, HeatScale scale, std::string_view title) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + Drawing(heat, scale).Draw(title);
}

std::string HeatHtml(const query::HeatReply& heat, HeatScale scale, std::string_view title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; img-src data:\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>{}</title></head>\n<body>\n{}"
      "</body></html>\n",
      profile::XmlText(title), Drawing(heat, scale).Draw(title));
}

}  // namespace firetower::cli
