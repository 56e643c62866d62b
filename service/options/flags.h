// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "service/options/option.h"

namespace firetower::service {

// A program's flags besides its options.
struct Program {
  // Flags that end the program at once, such as "help", which is also -h.
  std::span<const std::string_view> actions;
  // Returns the error about an argument that is not a flag; `nearest` is "" or a flag's name.
  Error (*unknown)(std::string_view argument, std::string_view nearest);
};

struct Flag {
  const Option* option;
  std::string value;
};

struct Flags {
  std::string_view action;  // one of Program's; empty: run the program
  std::vector<Flag> given;  // each at most once
};

// Reads "--name value" and "--name=value"; a switch stands alone or takes "=true", "=false". An
// error says what is wrong, why, and what is allowed; it is meant for the person who started the
// program. `arguments` is argv without the program's name.
Result<Flags> ReadFlags(const Program& program, std::span<const Option> options,
                        std::span<const std::string> arguments);

Status ApplyFlags(const Flags& flags);

}  // namespace firetower::service
