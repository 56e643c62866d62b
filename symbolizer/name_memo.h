// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbolizer/source_frames.h"
#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {

// Cache of demangled names: demangling takes microseconds, and the same functions are hot all day.
// A name from a table is found by its number there, any other name by its text. Belongs to one
// thread.
class NameMemo {
 public:
  static constexpr size_t kMaxTables = 4096;

  // Returns the number of a table, assigned at its first use since the last complete reset.
  uint32_t NumberOf(const std::shared_ptr<const SymbolTable>& table);
  // Returns the demangled name of a frame from the table with that number. Valid until the next
  // Trim().
  const std::string& Demangled(uint32_t table, const SourceFrame& frame);
  const std::string& Demangled(std::string_view mangled);
  // Evicts names of tables that are gone. Evicts everything, numbers too, when there are more than
  // `max_names` names or more than kMaxTables tables. The caller calls it between answers.
  void Trim(size_t max_names);
  size_t size() const { return names_.size() + by_text_.size(); }

 private:
  static constexpr uint32_t kNoPlace = UINT32_MAX;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Numbered {
    std::weak_ptr<const void> table;  // while it is held, no other table is at that address
    uint32_t number;
  };
  std::unordered_map<const SymbolTable*, Numbered> tables_;
  // For each table by number, and each of its ranges: the name's index in names_, or kNoPlace. This
  // costs 4 bytes per range, where the table itself has some 80.
  std::vector<std::vector<uint32_t>> places_;
  std::deque<std::string> names_;
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> by_text_;
};

}  // namespace firetower::symbolizer
