// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace firetower::daemon {

// A function of a language's runtime, as its frames are named.
struct RuntimeFunction {
  std::string name;  // qualified: "Class.method", "outer.<locals>.inner"
  std::string file;  // as the runtime has it
  uint32_t first_line = 0;

  bool operator==(const RuntimeFunction&) const = default;
};

// A function at one place of its code.
struct RuntimePlace {
  std::shared_ptr<const RuntimeFunction> function;
  uint32_t line = 0;  // 0: not known
};

// Leaves of a chain of inlined calls, the innermost first, what it shares with another one, the
// outermost function at least: of what lies between two places no more is sure than that it belongs
// to what both are in.
void KeepCommon(std::vector<RuntimePlace>& chain, const std::vector<RuntimePlace>& other);

}  // namespace firetower::daemon
