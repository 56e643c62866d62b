// SPDX-License-Identifier: Apache-2.0
#include "cli/failure.h"

#include <fmt/core.h>

namespace firetower::cli {

std::string Failure::Text(const std::string& program) const {
  std::string out = fmt::format("{}: {}\n", program, what);
  if (!why.empty()) out += fmt::format("  why: {}\n", why);
  if (!fix.empty()) out += fmt::format("  fix: {}\n", fix);
  return out;
}

Failure UsageFailure(const Error& error, const std::string& program, std::string_view command) {
  std::string help = command.empty() ? program : fmt::format("{} {}", program, command);
  return {ExitCode::kUsage, "the command line is wrong", error.message(),
          fmt::format("'{} --help' shows examples and flags", help)};
}

}  // namespace firetower::cli
