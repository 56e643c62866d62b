// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/command_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <string_view>
#include <vector>

#include "daemon/config/options.h"
#include "service/options/config_file.h"
#include "service/options/flags.h"

namespace firetower::daemon {
namespace {

using service::FindOption;
using service::Option;
using service::SetOption;

constexpr std::string_view kActions[] = {"help", "help-markdown", "version"};

Error Unknown(std::string_view argument, std::string_view nearest) {
  if (!argument.starts_with('-')) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("'{}': not a flag, and firetowerd takes no other arguments; "
                             "firetowerd --help lists the flags",
                             argument));
  }
  return Error(ErrorCode::kInvalid,
               nearest.empty()
                   ? fmt::format("{}: no such flag; firetowerd --help lists all", argument)
                   : fmt::format("{}: no such flag; did you mean --{}?", argument, nearest));
}

CommandAction ActionOf(std::string_view action) {
  if (action == "help") return CommandAction::kHelp;
  if (action == "help-markdown") return CommandAction::kHelpMarkdown;
  return action == "version" ? CommandAction::kVersion : CommandAction::kRun;
}

Status FillNodeName(const std::vector<Option>& options, const std::string& told, Config& config) {
  if (!config.node_name.empty()) return OkStatus();
  const Option& option = *FindOption(options, "node-name");
  if (!told.empty()) return SetOption(option, told, "NODE_NAME");
  char name[256] = {};
  if (::gethostname(name, sizeof(name) - 1) != 0) return ErrnoError("gethostname");
  return SetOption(option, name, "the host name cannot serve as --node-name, give one");
}

}  // namespace

Result<CommandLine> ParseCommandLine(std::span<const std::string> arguments,
                                     const std::string& node_name) {
  CommandLine line;
  const std::vector<Option> options = ConfigOptions(line.config);
  ASSIGN_OR_RETURN(const service::Flags flags,
                   service::ReadFlags({kActions, Unknown}, options, arguments));
  line.action = ActionOf(flags.action);
  if (line.action != CommandAction::kRun) return line;

  // Flags twice: first for the file they name, and again because they win over it.
  RETURN_IF_ERROR(service::ApplyFlags(flags));
  if (!line.config.config_path.empty()) {
    RETURN_IF_ERROR(service::ApplyFile(options, std::string(line.config.config_path)));
    RETURN_IF_ERROR(service::ApplyFlags(flags));
  }
  RETURN_IF_ERROR(FillNodeName(options, node_name, line.config));
  RETURN_IF_ERROR(CheckConfig(line.config));
  return line;
}

}  // namespace firetower::daemon
