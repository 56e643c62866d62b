// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>

#include "hub/config.h"
#include "hub/options.h"

namespace firetower::hub {

std::string HelpText() {
  std::string text =
      "firetower-hub: tells what profiling policies do on all nodes, in their status, and answers "
      "questions\nabout the profiles in a store.\n\n"
      "Run two of it; one leads, by a Lease. It needs no rights on any node.\n\n";
  for (const Option& option : ConfigOptions()) {
    text += fmt::format("  --{} {}\n      {}\n      Allowed: {}. Default: {}.\n", option.name,
                        option.placeholder, option.help, option.allowed, option.default_text);
  }
  text +=
      "  --print-lifecycle-rules\n"
      "      Print rules by which the bucket of --store deletes what is too old by itself, and "
      "end.\n"
      "  --help, --version\n";
  return text;
}

std::string OptionsMarkdown() {
  std::string table = "| flag | default | allowed | means |\n|---|---|---|---|\n";
  for (const Option& option : ConfigOptions()) {
    table += fmt::format("| `--{} {}` | {} | {} | {} |\n", option.name, option.placeholder,
                         option.default_text, option.allowed, option.help);
  }
  return table;
}

}  // namespace firetower::hub
