// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/name_memo.h"

#include "symbolizer/demangle.h"

namespace firetower::symbolizer {

uint32_t NameMemo::NumberOf(const std::shared_ptr<const SymbolTable>& table) {
  auto [known, inserted] = tables_.try_emplace(table.get());
  if (inserted) {
    known->second = {table, static_cast<uint32_t>(places_.size())};
    places_.emplace_back().resize(table->range_count(), kNoPlace);
  }
  return known->second.number;
}

const std::string& NameMemo::Demangled(uint32_t table, const SourceFrame& frame) {
  if (frame.symbol == SourceFrame::kNoSymbol) return Demangled(frame.name);
  uint32_t& place = places_[table][frame.symbol];
  if (place == kNoPlace) {
    place = static_cast<uint32_t>(names_.size());
    names_.push_back(Demangle(frame.name));
  }
  return names_[place];
}

const std::string& NameMemo::Demangled(std::string_view mangled) {
  auto known = by_text_.find(mangled);
  if (known == by_text_.end()) known = by_text_.emplace(mangled, Demangle(mangled)).first;
  return known->second;
}

void NameMemo::Trim(size_t max_names) {
  std::erase_if(tables_, [&](const auto& entry) {
    const Numbered& numbered = entry.second;
    if (numbered.table.expired()) places_[numbered.number] = {};
    return numbered.table.expired();
  });
  if (size() <= max_names && places_.size() <= kMaxTables) return;
  tables_.clear();
  names_.clear();
  places_.clear();
  by_text_.clear();
}

}  // namespace firetower::symbolizer
