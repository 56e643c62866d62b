// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "cli/heat/picture.h"
#include "cli/term/table.h"
#include "query/time_range.h"

namespace firetower::cli {
namespace {

// Colours of a palette of 256 that rise in lightness on a dark ground: violet, red, orange, yellow.
constexpr std::array kHot = {54, 89, 125, 161, 167, 203, 209, 215, 221, 229};
constexpr std::array kBlue = {24, 25, 31, 32, 38, 39, 45, 81, 117, 159};
constexpr std::string_view kBlocks[] = {" ", "░", "▒", "▓", "█"};
constexpr std::string_view kAscii = " .:-=+*#%@";
constexpr size_t kMaxLabel = 24;
constexpr size_t kDefaultWidth = 80;

struct Cell {
  uint32_t count = 0;
  uint32_t painted = 0;
};

// The map at the width of the terminal: columns are added up where there are too many.
class Drawing {
 public:
  Drawing(const query::HeatReply& heat, HeatScale scale, const Terminal& terminal)
      : heat_(heat), terminal_(terminal) {
    for (const std::string& row : heat.rows) label_ = std::max(label_, LabelOf(row).size());
    const size_t width = terminal.columns > 0 ? terminal.columns : kDefaultWidth;
    const auto room = static_cast<int64_t>(std::max<size_t>(width, label_ + 11) - label_ - 1);
    step_ = std::max<int64_t>((heat.columns + room - 1) / room, 1);
    columns_ = static_cast<size_t>((heat.columns + step_ - 1) / step_);
    cells_.resize(columns_ * heat.rows.size());
    known_.assign(columns_, '.');
    for (int64_t column = 0; column < heat.columns; ++column) Add(column);
    std::vector<uint32_t> shown;
    for (const Cell& cell : cells_) shown.push_back(ShownOf(cell));
    shades_ = std::make_unique<HeatShades>(shown, scale);
  }

  std::string Draw() {
    const bool pairs = heat_.row_ms > 0 && heat_.rows.size() > 10;
    for (size_t row = 0; row < heat_.rows.size(); row += pairs ? 2 : 1) {
      const std::string label = LabelOf(heat_.rows[row]);
      out_ += std::string(label_ - label.size(), ' ') + label + " ";
      for (size_t column = 0; column < columns_; ++column)
        Put(column, row, pairs && row + 1 < heat_.rows.size() ? row + 1 : row);
      out_ += terminal_.color ? "\033[0m\n" : "\n";
    }
    Axis();
    return std::move(out_);
  }

 private:
  std::string LabelOf(const std::string& row) const {
    if (heat_.row_ms > 0) return row + " ms";
    std::string text = Printable(row, terminal_.utf8);
    return text.size() <= kMaxLabel ? text : text.substr(0, kMaxLabel - 1) + "~";
  }

  void Add(int64_t column) {
    const auto at = static_cast<size_t>(column / step_);
    char& known = known_[at];
    const char here = heat_.known[static_cast<size_t>(column)];
    if (known == '.' || here == 't') known = here == '.' ? known : here;
    for (size_t row = 0; row < heat_.rows.size(); ++row) {
      Cell& cell = cells_[at * heat_.rows.size() + row];
      cell.count += heat_.cells[heat_.At(column, row)];
      if (!heat_.painted.empty()) cell.painted += heat_.painted[heat_.At(column, row)];
    }
  }

  // Without colours only what is painted can be told from the rest by leaving that out.
  bool only_painted() const { return !heat_.paint.empty() && !terminal_.color; }
  uint32_t ShownOf(const Cell& cell) const { return only_painted() ? cell.painted : cell.count; }
  const Cell& At(size_t column, size_t row) const {
    return cells_[column * heat_.rows.size() + row];
  }

  // The colour of a cell; 0 for the ground's own.
  int ColorOf(const Cell& cell) const {
    const double shade = shades_->Of(ShownOf(cell));
    if (shade <= 0) return 0;
    const auto& ramp = cell.painted > 0 ? kBlue : kHot;
    const auto steps = static_cast<double>(ramp.size());
    return ramp[static_cast<size_t>(std::clamp(std::ceil(shade * steps) - 1, 0.0, steps - 1))];
  }

  void Put(size_t column, size_t top, size_t bottom) {
    const Cell &above = At(column, top), &below = At(column, bottom);
    if (!terminal_.color) {
      const double shade = std::max(shades_->Of(ShownOf(above)), shades_->Of(ShownOf(below)));
      if (shade <= 0 && known_[column] == 'c') {
        out_ += '?';
      } else if (terminal_.utf8) {
        out_ += kBlocks[static_cast<size_t>(std::ceil(shade * 4))];
      } else {
        out_ += kAscii[static_cast<size_t>(std::ceil(shade * 9))];
      }
      return;
    }
    const int high = ColorOf(above), low = ColorOf(below);
    if (high == 0 && low == 0) {
      out_ += known_[column] == 'c' ? "\033[0;2m?" : "\033[0m ";
    } else if (high == low) {
      out_ += fmt::format("\033[0;38;5;{}m█", high);
    } else if (low == 0) {
      out_ += fmt::format("\033[0;38;5;{}m▀", high);
    } else if (high == 0) {
      out_ += fmt::format("\033[0;38;5;{}m▄", low);
    } else {
      out_ += fmt::format("\033[0;38;5;{};48;5;{}m▀", high, low);
    }
  }

  // The time under every twelfth column.
  void Axis() {
    constexpr size_t kEach = 12;
    out_ += std::string(label_ + 1, ' ');
    for (size_t column = 0; column < columns_; column += kEach) {
      const int64_t ms = heat_.begin_ms + static_cast<int64_t>(column) * step_ * heat_.column_ms;
      if (columns_ - column < 8) break;
      out_ += query::FormatTimeUtc(ms / 1000 * kNsPerSecond).substr(11, 8) + "    ";
    }
    while (out_.ends_with(' ')) out_.pop_back();
    out_ += '\n';
  }

  const query::HeatReply& heat_;
  const Terminal& terminal_;
  size_t label_ = 0;
  int64_t step_ = 1;
  size_t columns_ = 0;
  std::vector<Cell> cells_;
  std::string known_;
  std::unique_ptr<HeatShades> shades_;
  std::string out_;
};

}  // namespace

std::string HeatText(const query::HeatReply& heat, HeatScale scale, std::string_view title,
                     const Terminal& terminal) {
  Terminal drawn = terminal;
  // Half blocks are the only way to show two rows in a line.
  drawn.color = terminal.color && terminal.utf8;
  const std::string head = Printable(title, terminal.utf8) + "\n" +
                           Printable(HeatNote(heat), terminal.utf8) + "; times are UTC\n";
  return head + Drawing(heat, scale, drawn).Draw();
}

}  // namespace firetower::cli
