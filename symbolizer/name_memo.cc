// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/name_memo.h"

#include "symbolizer/demangle.h"

namespace firetower::symbolizer {

const std::string& NameMemo::Demangled(std::string_view mangled) {
  auto known = names_.find(mangled);
  if (known == names_.end()) known = names_.emplace(mangled, Demangle(mangled)).first;
  return known->second;
}

void NameMemo::Trim(size_t max_names) {
  if (names_.size() > max_names) names_.clear();
}

}  // namespace firetower::symbolizer
