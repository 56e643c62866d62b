// SPDX-License-Identifier: Apache-2.0
#include "service/options/flags.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/suggest.h"

namespace firetower::service {
namespace {

Error Unknown(const Program& program, std::span<const Option> options, std::string_view argument) {
  std::vector<std::string_view> names(program.actions.begin(), program.actions.end());
  for (const Option& option : options) names.push_back(option.name);
  const std::string_view name =
      argument.substr(std::min(argument.find_first_not_of('-'), argument.size()));
  return program.unknown(argument, NearestName(name, names));
}

// The last would win, and nobody would hear that the others did not count.
Error GivenTwice(const Option& option) {
  return Error(ErrorCode::kInvalid,
               fmt::format("--{}: given twice, and one alone would count; {}", option.name,
                           option.is_list ? "give it once, with all its values apart by commas"
                                          : "leave one out"));
}

// The action that `argument` asks for, or "".
std::string_view ActionOf(const Program& program, std::string_view argument) {
  if (argument == "-h") return "help";
  if (!argument.starts_with("--")) return "";
  const auto found = std::ranges::find(program.actions, argument.substr(2));
  return found == program.actions.end() ? "" : *found;
}

}  // namespace

Result<Flags> ReadFlags(const Program& program, std::span<const Option> options,
                        std::span<const std::string> arguments) {
  Flags flags;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const std::string_view argument = arguments[at];
    flags.action = ActionOf(program, argument);
    if (!flags.action.empty()) return flags;
    const size_t equals = argument.find('=');
    const std::string_view spelling = argument.substr(0, equals);
    const Option* option =
        spelling.starts_with("--") ? FindOption(options, spelling.substr(2)) : nullptr;
    if (option == nullptr)
      return Unknown(program, options, argument.starts_with('-') ? spelling : argument);
    if (std::ranges::find(flags.given, option, &Flag::option) != flags.given.end())
      return GivenTwice(*option);
    if (equals != std::string_view::npos) {
      flags.given.push_back({option, std::string(argument.substr(equals + 1))});
    } else if (option->is_switch()) {
      flags.given.push_back({option, "true"});
    } else if (at + 1 < arguments.size() && !arguments[at + 1].starts_with("--")) {
      flags.given.push_back({option, arguments[++at]});
    } else {
      return Error(ErrorCode::kInvalid, fmt::format("{}: its value is missing; allowed: {}",
                                                    spelling, option->value.allowed));
    }
  }
  return flags;
}

Status ApplyFlags(const Flags& flags) {
  for (const Flag& flag : flags.given) {
    RETURN_IF_ERROR(SetOption(*flag.option, flag.value, fmt::format("--{}", flag.option->name)));
  }
  return OkStatus();
}

}  // namespace firetower::service
