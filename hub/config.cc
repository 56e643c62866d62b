// SPDX-License-Identifier: Apache-2.0
#include "hub/config.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/suggest.h"
#include "hub/options.h"

namespace firetower::hub {
namespace {

constexpr std::string_view kLifecycleFlag = "print-lifecycle-rules";

Error Unknown(std::string_view spelling, const std::vector<Option>& options) {
  std::vector<std::string_view> names = {"help", "version", kLifecycleFlag};
  for (const Option& option : options) names.push_back(option.name);
  const std::string_view name =
      spelling.substr(std::min(spelling.find_first_not_of('-'), spelling.size()));
  return {ErrorCode::kInvalid,
          fmt::format("{}: no such flag{}", spelling, DidYouMean(std::string(name), names))};
}

// The last would win, and nobody would hear that the others did not count.
Error GivenTwice(std::string_view spelling) {
  return {ErrorCode::kInvalid,
          fmt::format("{}: given twice, and one alone would count; leave one out", spelling)};
}

Status Set(const Option& option, const std::string& value, Config& config) {
  const Status set = option.set(config, value);
  if (set) return OkStatus();
  // A URL may hold what is not to be in a log.
  const std::string shown = option.name == "store" ? "" : fmt::format(" '{}'", value);
  return Error(ErrorCode::kInvalid, fmt::format("--{}:{} is refused: {}; allowed: {}", option.name,
                                                shown, set.error().message(), option.allowed));
}

}  // namespace

Result<CommandLine> ParseCommandLine(std::span<const std::string> arguments) {
  const std::vector<Option> options = ConfigOptions();
  CommandLine line;
  std::set<std::string> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      line.action = CommandAction::kHelp;
      return line;
    }
    if (argument == "--version") {
      line.action = CommandAction::kVersion;
      return line;
    }
    const size_t equals = argument.find('=');
    const std::string spelling = argument.substr(0, equals);
    if (given.contains(spelling)) return GivenTwice(spelling);
    if (argument == fmt::format("--{}", kLifecycleFlag)) {
      line.action = CommandAction::kPrintLifecycleRules;
      given.insert(spelling);
      continue;
    }
    const auto option = std::ranges::find_if(
        options, [&](const Option& one) { return spelling == fmt::format("--{}", one.name); });
    if (option == options.end()) return Unknown(spelling, options);
    if (equals == std::string::npos && i + 1 == arguments.size()) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("{}: its value is missing; allowed: {}", spelling, option->allowed));
    }
    const std::string value =
        equals == std::string::npos ? arguments[++i] : argument.substr(equals + 1);
    RETURN_IF_ERROR(Set(*option, value, line.config));
    given.insert(spelling);
  }
  return line;
}

}  // namespace firetower::hub
