// SPDX-License-Identifier: Apache-2.0
#include "cli/args/spec.h"

#include <vector>

#include "cli/args/tables.h"

namespace firetower::cli {
namespace {

using Text = std::string_view;

constexpr Text kColors[] = {"auto", "always", "never"};
constexpr FlagSpec kGlobal[] = {
    {"server", 0, "URL",
     "address of the API (default $FIRETOWER_SERVER, else http://127.0.0.1:7070, or the cluster's "
     "hub: see --context)"},
    {"certificate-authority", 0, "FILE",
     "certificates (PEM) that alone are trusted for an https server (default: the system's)"},
    {"timeout", 0, "DURATION", "time to wait for an answer (default 60s)"},
    {"color", 0, "WHEN", "auto, always or never (default auto: on a terminal; see NO_COLOR)",
     kColors},
    {"verbose", 'v', "", "write each request to standard error"},
    {"help", 'h', "", "show help"},
    {"version", 0, "", "print the version"},
};

constexpr Text kVersionOutputs[] = {"text", "json"};
constexpr FlagSpec kVersionOutput[] = {
    {"output", 'o', "FORMAT", "text or json (default text)", kVersionOutputs}};
constexpr FlagGroup kVersionGroups[] = {{"Output", kVersionOutput}};
constexpr Example kVersionExamples[] = {{"", "version"}};

constexpr Text kShells[] = {"bash", "zsh"};
constexpr Example kCompletionExamples[] = {
    {"For this shell", "completion bash > /etc/bash_completion.d/firetower"},
};
constexpr FlagSpec kHelpOutput[] = {
    {"markdown", 0, "", "print all commands as one Markdown page, docs/reference/cli.md"}};
constexpr FlagGroup kHelpGroups[] = {{"Output", kHelpOutput}};
constexpr Example kHelpExamples[] = {{"", "help top"}};

constexpr CommandSpec kOwn[] = {
    {"version", "Print the version", "", "", {}, 0, kVersionExamples, kVersionGroups},
    {"completion",
     "Print a completion script for a shell",
     "",
     "bash|zsh",
     kShells,
     1,
     kCompletionExamples,
     {}},
    {"help", "Show help for a command", "", "[COMMAND]", {}, 1, kHelpExamples, kHelpGroups},
};

constexpr ExitCodeSpec kExitCodes[] = {
    {ExitCode::kOk, "success"},
    {ExitCode::kFailure, "failure, or a failed doctor check"},
    {ExitCode::kUsage, "the command line is wrong"},
    {ExitCode::kThreshold, "a threshold was passed"},
    {ExitCode::kNoData, "nothing matches"},
    {ExitCode::kUnreachable, "the server cannot be reached, cannot answer or refuses"},
    {ExitCode::kInterrupted, "interrupted (Ctrl-C, SIGINT)"},
    {ExitCode::kTerminated, "terminated (SIGTERM)"},
};

std::vector<CommandSpec> AllCommands() {
  std::vector<CommandSpec> all;
  for (const std::span<const CommandSpec> part :
       {QuestionCommands(), ClusterCommands(), FileCommands(), std::span<const CommandSpec>(kOwn)})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

std::span<const CommandSpec> Commands() {
  static const std::vector<CommandSpec> all = AllCommands();
  return all;
}

std::span<const FlagSpec> GlobalFlags() { return kGlobal; }
std::span<const ExitCodeSpec> ExitCodes() { return kExitCodes; }

const CommandSpec* FindCommand(std::string_view name) {
  for (const CommandSpec& command : Commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace firetower::cli
