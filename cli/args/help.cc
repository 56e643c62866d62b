// SPDX-License-Identifier: Apache-2.0
#include "cli/args/help.h"

#include <fmt/core.h>

#include <algorithm>

namespace firetower::cli {
namespace {

// "-q, --query SELECTOR"
std::string FlagHead(const FlagSpec& flag) {
  std::string out = flag.letter == 0 ? "    " : fmt::format("-{}, ", flag.letter);
  out += fmt::format("--{}", flag.name);
  if (!flag.value.empty()) out += fmt::format(" {}", flag.value);
  return out;
}

size_t WidestFlag(const CommandSpec* command) {
  size_t widest = 0;
  auto take = [&](const FlagSpec& flag) { widest = std::max(widest, FlagHead(flag).size()); };
  if (command != nullptr) {
    for (const FlagGroup& group : command->groups) {
      std::for_each(group.flags.begin(), group.flags.end(), take);
    }
  }
  std::for_each(GlobalFlags().begin(), GlobalFlags().end(), take);
  return widest;
}

void AppendFlags(std::string_view title, std::span<const FlagSpec> flags, size_t width,
                 std::string& out) {
  out += fmt::format("\n{}:\n", title);
  for (const FlagSpec& flag : flags) {
    out += fmt::format("  {:<{}}  {}\n", FlagHead(flag), width, flag.help);
  }
}

std::string UsageLine(std::string_view program, const CommandSpec& command) {
  std::string out = fmt::format("{} {}", program, command.name);
  if (!command.positional.empty()) out += fmt::format(" {}", command.positional);
  return out + " [flags]";
}

void AppendExamples(std::string_view program, const CommandSpec& command, std::string_view indent,
                    std::string& out) {
  for (const Example& example : command.examples) {
    if (!example.comment.empty()) out += fmt::format("{}# {}\n", indent, example.comment);
    out += fmt::format("{}{} {}\n", indent, program, example.arguments);
  }
}

void AppendMarkdownFlags(std::string_view title, std::span<const FlagSpec> flags,
                         std::string& out) {
  out += fmt::format("\n| {} | |\n|---|---|\n", title);
  for (const FlagSpec& flag : flags) {
    std::string head = FlagHead(flag);
    head.erase(0, head.find('-'));
    out += fmt::format("| `{}` | {} |\n", head, flag.help);
  }
}

}  // namespace

std::string ProgramName(std::string_view argv0) {
  std::string_view name = argv0.substr(argv0.rfind('/') + 1);
  constexpr std::string_view kPlugin = "kubectl-";
  if (name.starts_with(kPlugin)) return fmt::format("kubectl {}", name.substr(kPlugin.size()));
  return "firetower";
}

std::string HelpText(std::string_view program) {
  std::string out = fmt::format(
      "Ask a Firetower daemon what its containers spend their time on.\n\nExamples:\n"
      "  # The containers that burn most CPU, live\n  {0} top --watch\n"
      "  # A profile for go tool pprof\n  {0} get '{{container=\"web\"}}' -f web.pb.gz\n"
      "  # What works on this node and what does not\n  {0} doctor\n\n"
      "Usage:\n  {0} COMMAND [flags]\n\nCommands:\n",
      program);
  for (const CommandSpec& command : Commands()) {
    out += fmt::format("  {:<11} {}\n", command.name, command.summary);
  }
  AppendFlags("Global", GlobalFlags(), WidestFlag(nullptr), out);
  out += "\nExit codes:\n";
  for (const ExitCodeSpec& exit : ExitCodes()) {
    out += fmt::format("  {:<4} {}\n", exit.code, exit.meaning);
  }
  return out + fmt::format("\n'{} COMMAND --help' says more.\n", program);
}

std::string HelpText(std::string_view program, const CommandSpec& command) {
  std::string out = fmt::format("{}.\n\nExamples:\n", command.summary);
  AppendExamples(program, command, "  ", out);
  out += fmt::format("\nUsage:\n  {}\n", UsageLine(program, command));
  if (!command.description.empty()) out += fmt::format("\n{}\n", command.description);
  size_t width = WidestFlag(&command);
  for (const FlagGroup& group : command.groups) AppendFlags(group.title, group.flags, width, out);
  AppendFlags("Global", GlobalFlags(), width, out);
  return out;
}

std::string HelpMarkdown() {
  std::string out =
      "# firetower\n\n<!-- Written by `firetower help --markdown`; a test keeps the two equal. "
      "-->\n\n"
      "Data goes to standard output, everything else to standard error. Times are shown in the\n"
      "local zone in tables and in UTC in JSON. Installed as `kubectl-firetower` it is a kubectl\n"
      "plugin.\n";
  for (const CommandSpec& command : Commands()) {
    out += fmt::format("\n## firetower {}\n\n{}.\n\n```\n", command.name, command.summary);
    AppendExamples("firetower", command, "", out);
    out += fmt::format("```\n\nUsage: `{}`\n", UsageLine("firetower", command));
    if (!command.description.empty()) out += fmt::format("\n{}\n", command.description);
    for (const FlagGroup& group : command.groups) {
      AppendMarkdownFlags(group.title, group.flags, out);
    }
  }
  out += "\n## Global flags\n";
  AppendMarkdownFlags("Global", GlobalFlags(), out);
  out += "\n## Exit codes\n\n| Code | Meaning |\n|---|---|\n";
  for (const ExitCodeSpec& exit : ExitCodes()) {
    out += fmt::format("| {} | {} |\n", exit.code, exit.meaning);
  }
  return out;
}

}  // namespace firetower::cli
