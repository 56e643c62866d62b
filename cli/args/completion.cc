// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/args/help.h"

namespace firetower::cli {
namespace {

// Words offered after a command: its positional choices and its flags.
std::string WordsOf(const CommandSpec& command) {
  std::string words;
  for (std::string_view choice : command.positional_choices) words += fmt::format(" {}", choice);
  if (command.name == "help") {
    for (const CommandSpec& other : Commands()) words += fmt::format(" {}", other.name);
  }
  auto add = [&](std::span<const FlagSpec> flags) {
    for (const FlagSpec& flag : flags) words += fmt::format(" --{}", flag.name);
  };
  for (const FlagGroup& group : command.groups) add(group.flags);
  add(GlobalFlags());
  return words;
}

// `top:--output|top:-o) words="…" ;;` for each flag with a closed set of values.
void AppendFlagValues(std::string_view command, std::span<const FlagSpec> flags, std::string& out) {
  for (const FlagSpec& flag : flags) {
    if (flag.value.empty()) continue;
    out += fmt::format("    {}:--{}", command, flag.name);
    if (flag.letter != 0) out += fmt::format("|{}:-{}", command, flag.letter);
    // A free value: only file names are offered.
    if (flag.value == "FILE" || flag.value == "OUT") {
      out += ") COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n";
    } else {
      out += fmt::format(") words=\"{}\" ;;\n", fmt::join(flag.choices, " "));
    }
  }
}

// `        merge) words="…" ;;`, with the files where the command's arguments are some.
std::string CommandWords(const CommandSpec& command) {
  const std::string words = WordsOf(command).substr(1);
  if (!command.positional_files) {
    return fmt::format("        {}) words=\"{}\" ;;\n", command.name, words);
  }
  return fmt::format("        {}) COMPREPLY=($(compgen -f -W \"{}\" -- \"$current\")); return ;;\n",
                     command.name, words);
}

}  // namespace

std::string CompletionScript(std::string_view shell) {
  std::vector<std::string_view> names;
  for (const CommandSpec& command : Commands()) names.push_back(command.name);
  std::string global;
  for (const FlagSpec& flag : GlobalFlags()) global += fmt::format(" --{}", flag.name);

  std::string out = shell == "zsh"
                        ? "#compdef firetower\nautoload -U +X bashcompinit && bashcompinit\n"
                        : "# bash completion for firetower\n";
  out +=
      "_firetower() {\n  local current=\"${COMP_WORDS[COMP_CWORD]}\"\n"
      "  local previous=\"${COMP_WORDS[COMP_CWORD-1]}\" command=\"\" words=\"\" i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n    case \"${COMP_WORDS[i]}\" in\n";
  out += fmt::format("      {}) command=\"${{COMP_WORDS[i]}}\"; break ;;\n", fmt::join(names, "|"));
  out += "    esac\n  done\n  case \"$command:$previous\" in\n";
  for (const CommandSpec& command : Commands()) {
    for (const FlagGroup& group : command.groups) AppendFlagValues(command.name, group.flags, out);
  }
  AppendFlagValues("*", GlobalFlags(), out);
  out += "    *) case \"$command\" in\n";
  for (const CommandSpec& command : Commands()) {
    out += CommandWords(command);
  }
  out += fmt::format("        *) words=\"{}{}\" ;;\n      esac ;;\n  esac\n", fmt::join(names, " "),
                     global);
  out +=
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
      "complete -F _firetower firetower\n";
  return out;
}

}  // namespace firetower::cli
