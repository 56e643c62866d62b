// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/args/spec.h"

namespace firetower::cli {

// A parsed command line that fits the table.
struct Args {
  const CommandSpec* command = nullptr;           // nullptr: none given
  std::map<std::string_view, std::string> flags;  // by name; a switch has "true"
  std::vector<std::string> positionals;
  std::string selector;  // the argument [SELECTOR], which is none of the positionals then

  bool Has(std::string_view flag) const { return flags.contains(flag); }
  // Returns "" when the flag is absent.
  std::string Get(std::string_view flag) const {
    auto at = flags.find(flag);
    return at == flags.end() ? "" : at->second;
  }
};

// Parses `arguments`, without the program's name. Accepts --name VALUE, --name=VALUE, -n VALUE,
// -nVALUE and --. Global flags may also come before the command. A value may be empty only if the
// table says so. kInvalid names the mistake and perhaps the intended word. With --help nothing else
// is checked.
Result<Args> ParseArgs(const std::vector<std::string>& arguments);

}  // namespace firetower::cli
