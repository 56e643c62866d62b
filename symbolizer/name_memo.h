// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace firetower::symbolizer {

// Demangled names, each made once: demangling costs microseconds, and the same functions are hot
// all day. Belongs to one thread.
class NameMemo {
 public:
  // A name as a programmer wrote it. Valid until the next Trim().
  const std::string& Demangled(std::string_view mangled);
  // Forgets all when there are more than `max_names`; to be called between answers.
  void Trim(size_t max_names);
  size_t size() const { return names_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> names_;
};

}  // namespace firetower::symbolizer
