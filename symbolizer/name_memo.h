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

// Demangled names, each made once: demangling costs microseconds, and the same functions are hot
// all day. A name that is a table's is found by its number there, others by their text. Belongs to
// one thread.
class NameMemo {
 public:
  static constexpr size_t kMaxTables = 4096;

  // A table's number among those seen since all was forgotten.
  uint32_t NumberOf(const std::shared_ptr<const SymbolTable>& table);
  // The name of a frame from the table with that number, as a programmer wrote it. Valid until the
  // next Trim().
  const std::string& Demangled(uint32_t table, const SourceFrame& frame);
  const std::string& Demangled(std::string_view mangled);
  // Forgets tables that are gone; and all, numbers too, when there are more than `max_names`, or
  // were more than kMaxTables tables. To be called between answers.
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
  // Of each table by number: of each range its name's place in names_, or kNoPlace. That is 4 bytes
  // where a table itself has some 80.
  std::vector<std::vector<uint32_t>> places_;
  std::deque<std::string> names_;
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> by_text_;
};

}  // namespace firetower::symbolizer
