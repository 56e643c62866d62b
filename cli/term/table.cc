// SPDX-License-Identifier: Apache-2.0
#include "cli/term/table.h"

#include <algorithm>

#include "base/json.h"

namespace firetower::cli {
namespace {

constexpr size_t kGap = 2;
// A column cut to fewer characters tells nothing.
constexpr size_t kNarrowest = 8;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// In characters. East Asian double width is not looked at: such a line may be off by some.
size_t Width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

// At most `width` characters, with a mark at the end when something is missing.
std::string Cut(const std::string& text, size_t width, bool utf8) {
  if (Width(text) <= width) return text;
  std::string_view mark = utf8 ? "\u2026" : "~";
  size_t keep = width == 0 ? 0 : width - 1;
  size_t bytes = 0;
  for (size_t seen = 0; bytes < text.size(); ++bytes) {
    if (!IsContinuation(text[bytes]) && seen++ == keep) break;
  }
  return width == 0 ? "" : text.substr(0, bytes) + std::string(mark);
}

// Takes from the widest flexible column until the line fits or none can give more.
void Shrink(const std::vector<Column>& columns, size_t line_width, std::vector<size_t>& widths) {
  size_t total = kGap * (widths.size() - 1);
  for (size_t width : widths) total += width;
  while (total > line_width) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      if (!columns[i].flexible || widths[i] <= std::max(kNarrowest, columns[i].header.size())) {
        continue;
      }
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == widths.size()) return;
    --widths[widest];
    --total;
  }
}

}  // namespace

std::string Printable(std::string_view text, bool utf8) {
  std::string out = ToValidUtf8(text);
  size_t to = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    auto byte = static_cast<unsigned char>(out[i]);
    // U+0080 to U+009F are control characters as well, and some terminals obey them.
    bool c1 = byte == 0xC2 && static_cast<unsigned char>(out[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F || c1 || (!utf8 && byte >= 0xC0)) {
      out[to++] = '?';
      while (i + 1 < out.size() && IsContinuation(out[i + 1])) ++i;
    } else {
      out[to++] = out[i];
    }
  }
  out.resize(to);
  return out;
}

std::string Table::Render(const Terminal& terminal, bool headers, bool wide) const {
  std::vector<std::vector<Cell>> lines;
  if (headers) {
    std::vector<Cell>& head = lines.emplace_back();
    for (const Column& column : columns_) head.emplace_back(column.header, Style::kBold);
  }
  for (const std::vector<Cell>& row : rows_) {
    std::vector<Cell>& line = lines.emplace_back();
    for (const Cell& cell : row) line.emplace_back(Printable(cell.text, terminal.utf8), cell.style);
  }
  std::vector<size_t> widths(columns_.size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], Width(line[i].text));
  }
  bool bounded = !wide && terminal.columns > 0;
  if (bounded) Shrink(columns_, terminal.columns, widths);

  std::string out;
  for (const auto& line : lines) {
    size_t left = bounded ? terminal.columns : std::string::npos;
    for (size_t i = 0; i < line.size() && left > 0; ++i) {
      std::string text = Cut(line[i].text, std::min(widths[i], left), terminal.utf8);
      std::string pad(std::min(widths[i], left) - Width(text), ' ');
      if (columns_[i].right) out += pad;
      out += Styled(terminal, line[i].style, text);
      left -= std::min(widths[i], left);
      // Nothing follows the last column, so that lines have no blanks at the end.
      if (i + 1 == line.size()) break;
      size_t gap = std::min(kGap, left);
      if (!columns_[i].right) out += pad;
      out.append(gap, ' ');
      left -= gap;
    }
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
  }
  return out;
}

}  // namespace firetower::cli
