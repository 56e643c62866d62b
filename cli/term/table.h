// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/term/terminal.h"

namespace firetower::cli {

struct Column {
  std::string header;
  bool right = false;     // numbers
  bool flexible = false;  // may be cut when the terminal is narrow
};

struct Cell {
  // NOLINTNEXTLINE(google-explicit-constructor): most cells are plain text
  Cell(std::string cell_text, Style cell_style = Style::kPlain)
      : text(std::move(cell_text)), style(cell_style) {}
  std::string text;
  Style style;
};

// Returns text that is safe for a terminal: replaces control characters, with which a hostile
// symbol name could write anywhere on the screen, by '?', and also bytes that are not UTF-8, or not
// ASCII if `utf8` is false.
std::string Printable(std::string_view text, bool utf8);

// Table with aligned columns, two spaces apart.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // Expects one cell per column.
  void AddRow(std::vector<Cell> row) { rows_.push_back(std::move(row)); }

  // Formats the table. `wide`: nothing is cut; otherwise flexible columns shrink and lines end at
  // the terminal's edge.
  std::string Render(const Terminal& terminal, bool headers, bool wide) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace firetower::cli
