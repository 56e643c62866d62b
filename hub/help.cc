// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "hub/config.h"
#include "hub/options.h"
#include "service/options/help_text.h"

namespace firetower::hub {

std::string HelpText() {
  std::string text =
      "firetower-hub writes the status of profiling policies, which says what they do on all "
      "nodes, and\nanswers queries over the profiles in a store.\n\nRun two hubs; a Lease decides "
      "which one leads. The hub needs no rights on nodes.\n\n";
  Config defaults;
  text += service::OptionsHelp(ConfigOptions(defaults), service::kUnbroken);
  text +=
      "  --print-lifecycle-rules\n      Print lifecycle rules with which the bucket of --store "
      "deletes expired profiles itself, and exit.\n  --help, --version\n";
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
