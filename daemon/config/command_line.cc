// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/command_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/suggest.h"
#include "daemon/config/config_file.h"
#include "daemon/config/options.h"

namespace firetower::daemon {
namespace {

constexpr size_t kMaxConfigFileBytes = 1 << 20;

struct Flag {
  const Option* option;
  std::string value;
};

struct Flags {
  CommandAction action = CommandAction::kRun;
  std::vector<Flag> given;
};

const Option* FindOption(const std::vector<Option>& options, std::string_view name) {
  auto found = std::find_if(options.begin(), options.end(),
                            [&](const Option& option) { return option.name == name; });
  return found == options.end() ? nullptr : &*found;
}

std::vector<std::string_view> Names(const std::vector<Option>& options) {
  std::vector<std::string_view> names;
  for (const Option& option : options) names.push_back(option.name);
  return names;
}

Error UnknownFlag(const std::vector<Option>& options, std::string_view flag) {
  std::string_view name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  std::vector<std::string_view> names = Names(options);
  names.insert(names.end(), {"help", "version"});
  std::string_view nearest = NearestName(name, names);
  return Error(ErrorCode::kInvalid,
               nearest.empty()
                   ? fmt::format("{}: no such flag; firetowerd --help lists all", flag)
                   : fmt::format("{}: no such flag; did you mean --{}?", flag, nearest));
}

// The last would win, and nobody would hear that the others did not count.
Error GivenTwice(const Option& option) {
  return Error(ErrorCode::kInvalid,
               fmt::format("--{}: given twice, and one alone would count; {}", option.name,
                           option.is_list ? "give it once, with all its values apart by commas"
                                          : "leave one out"));
}

// The flags that end the program at once; true if `argument` is one.
bool TakeAction(std::string_view argument, CommandAction& action) {
  if (argument == "--help" || argument == "-h") {
    action = CommandAction::kHelp;
  } else if (argument == "--help-markdown") {
    action = CommandAction::kHelpMarkdown;
  } else if (argument == "--version") {
    action = CommandAction::kVersion;
  } else {
    return false;
  }
  return true;
}

// Reads the flag at arguments[at]; moves `at` past a value that stands apart.
Result<Flag> ReadFlag(const std::vector<Option>& options, std::span<const std::string> arguments,
                      size_t& at) {
  std::string_view argument = arguments[at];
  size_t equals = argument.find('=');
  std::string_view spelling = argument.substr(0, equals);
  const Option* option =
      spelling.starts_with("--") ? FindOption(options, spelling.substr(2)) : nullptr;
  if (option == nullptr) return UnknownFlag(options, spelling);
  if (equals != std::string_view::npos) {
    return Flag{option, std::string(argument.substr(equals + 1))};
  }
  if (option->is_switch()) return Flag{option, "true"};
  if (at + 1 == arguments.size() || arguments[at + 1].starts_with("--")) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("{}: its value is missing; allowed: {}", spelling, option->allowed));
  }
  return Flag{option, arguments[++at]};
}

Result<Flags> ReadFlags(const std::vector<Option>& options,
                        std::span<const std::string> arguments) {
  Flags flags;
  for (size_t at = 0; at < arguments.size(); ++at) {
    if (TakeAction(arguments[at], flags.action)) return flags;
    if (!arguments[at].starts_with('-')) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("'{}': not a flag, and firetowerd takes no other arguments; "
                               "firetowerd --help lists the flags",
                               arguments[at]));
    }
    ASSIGN_OR_RETURN(Flag flag, ReadFlag(options, arguments, at));
    const bool is_repeated = std::ranges::any_of(
        flags.given, [&](const Flag& one) { return one.option == flag.option; });
    if (is_repeated) return GivenTwice(*flag.option);
    flags.given.push_back(std::move(flag));
  }
  return flags;
}

Status ApplyFile(const std::vector<Option>& options, const std::string& path, Config& config) {
  auto yaml = ReadFileOrPipe(path, kMaxConfigFileBytes).Context("--config");
  if (!yaml) return std::move(yaml).error();
  ASSIGN_OR_RETURN(std::vector<FileSetting> settings, ParseConfigFile(*yaml, path));
  for (const FileSetting& setting : settings) {
    std::string where = fmt::format("{}:{}: {}", path, setting.line, setting.key);
    const Option* option = FindOption(options, setting.key);
    if (option == nullptr) {
      return Error(ErrorCode::kInvalid, fmt::format("{}: no such option{}", where,
                                                    DidYouMean(setting.key, Names(options))));
    }
    if (option->name == "config") {
      return Error(ErrorCode::kInvalid,
                   where + ": a configuration file cannot name another; remove the line");
    }
    if (setting.is_list && !option->is_list) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("{}: a list stands where one value is wanted; allowed: {}", where,
                               option->allowed));
    }
    RETURN_IF_ERROR(SetOption(*option, config, setting.value, where));
  }
  return OkStatus();
}

Status ApplyFlags(const Flags& flags, Config& config) {
  for (const Flag& flag : flags.given) {
    RETURN_IF_ERROR(
        SetOption(*flag.option, config, flag.value, fmt::format("--{}", flag.option->name)));
  }
  return OkStatus();
}

Status FillNodeName(const std::vector<Option>& options, const std::string& told, Config& config) {
  if (!config.node_name.empty()) return OkStatus();
  const Option& option = *FindOption(options, "node-name");
  if (!told.empty()) return SetOption(option, config, told, "NODE_NAME");
  char name[256] = {};
  if (::gethostname(name, sizeof(name) - 1) != 0) return ErrnoError("gethostname");
  return SetOption(option, config, name, "the host name cannot serve as --node-name, give one");
}

}  // namespace

Result<CommandLine> ParseCommandLine(std::span<const std::string> arguments,
                                     const std::string& node_name) {
  const std::vector<Option> options = ConfigOptions();
  ASSIGN_OR_RETURN(Flags flags, ReadFlags(options, arguments));
  CommandLine line;
  line.action = flags.action;
  if (line.action != CommandAction::kRun) return line;

  // Flags twice: first for the file they name, and again because they win over it.
  RETURN_IF_ERROR(ApplyFlags(flags, line.config));
  if (!line.config.config_path.empty()) {
    RETURN_IF_ERROR(ApplyFile(options, line.config.config_path, line.config));
    RETURN_IF_ERROR(ApplyFlags(flags, line.config));
  }
  RETURN_IF_ERROR(FillNodeName(options, node_name, line.config));
  RETURN_IF_ERROR(CheckConfig(line.config));
  return line;
}

}  // namespace firetower::daemon
