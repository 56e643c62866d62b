// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "hub/config.h"
#include "hub/options.h"
#include "service/options/help_text.h"

namespace firetower::hub {

std::string HelpText() {
  std::string text =
      "firetower-hub: tells what profiling policies do on all nodes, in their status, and answers "
      "questions\nabout the profiles in a store.\n\n"
      "Run two of it; one leads, by a Lease. It needs no rights on any node.\n\n";
  Config defaults;
  text += service::OptionsHelp(ConfigOptions(defaults), service::kUnbroken);
  text +=
      "  --print-lifecycle-rules\n"
      "      Print rules by which the bucket of --store deletes what is too old by itself, and "
      "end.\n"
      "  --help, --version\n";
  return text;
}

std::string OptionsMarkdown() {
  std::string table = "| flag | default | allowed | means |\n|---|---|---|---|\n";
  Config defaults;
  for (const service::Option& option : ConfigOptions(defaults))
    table += service::MarkdownRow(option);
  return table;
}

}  // namespace firetower::hub
