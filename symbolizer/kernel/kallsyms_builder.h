// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbolizer/kernel/kallsyms.h"
#include "symbolizer/string_pool.h"

namespace firetower::symbolizer {

// Collects the lines of /proc/kallsyms: "address type name[\t[module]]".
class KallsymsBuilder {
 public:
  // Reserves memory for a text of `bytes`; by default for a distribution's kernel with its modules.
  explicit KallsymsBuilder(size_t bytes = SIZE_MAX);
  // Adds one line without its newline. Skips a line that is not a symbol. Fails with kExhausted
  // beyond the table's bounds.
  Status AddLine(std::string_view line);
  Result<Kallsyms> Finish() &&;

 private:
  // Every symbol ends the one before it, but only functions become entries.
  struct Raw {
    uint64_t abs_addr;
    uint32_t name_offset;
    uint32_t module_offset;
    bool function;
  };
  std::optional<uint32_t> AddName(std::string_view name);
  void Append(Kallsyms& table, const Raw& symbol, uint64_t end) const;
  // `next` is the first symbol at a higher address, or one past the last.
  uint64_t EndOf(size_t index, size_t next) const;

  StringPool names_;
  uint32_t no_module_;
  // The name of the last padding symbol without its prefix, which is also the name of the function
  // that follows: its offset in names_, and its length.
  uint32_t padded_ = 0;
  size_t padded_bytes_ = 0;
  std::vector<Raw> symbols_;
  uint64_t lines_ = 0;
  bool any_address_ = false;
};

}  // namespace firetower::symbolizer
