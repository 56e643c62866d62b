// SPDX-License-Identifier: Apache-2.0
#include "hub/config.h"

#include <fmt/core.h>

#include <vector>

#include "hub/options.h"
#include "service/options/flags.h"
#include "service/options/tls.h"
#include "service/options/values.h"

namespace firetower::hub {
namespace {

constexpr std::string_view kActions[] = {"help", "version"};

Error Unknown(std::string_view argument, std::string_view nearest) {
  return {ErrorCode::kInvalid,
          nearest.empty() ? fmt::format("{}: no such flag", argument)
                          : fmt::format("{}: no such flag; did you mean '{}'?", argument, nearest)};
}

}  // namespace

Result<CommandLine> ParseCommandLine(std::span<const std::string> arguments) {
  CommandLine line;
  bool prints_rules = false;
  std::vector<service::Option> options = ConfigOptions(line.config);
  options.push_back({"print-lifecycle-rules", "", "", "", service::SwitchValue(prints_rules)});
  ASSIGN_OR_RETURN(const service::Flags flags,
                   service::ReadFlags({kActions, Unknown}, options, arguments));
  if (!flags.action.empty()) {
    line.action = flags.action == "help" ? CommandAction::kHelp : CommandAction::kVersion;
    return line;
  }
  RETURN_IF_ERROR(service::ApplyFlags(flags));
  if (prints_rules) line.action = CommandAction::kPrintLifecycleRules;
  RETURN_IF_ERROR(
      service::CheckTlsOptions(line.config.tls_cert_file, line.config.tls_private_key_file));
  return line;
}

}  // namespace firetower::hub
