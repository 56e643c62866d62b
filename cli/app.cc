// SPDX-License-Identifier: Apache-2.0
#include "cli/app.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/args/help.h"
#include "cli/args/parse.h"
#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/files/asked_side.h"
#include "cli/server_choice.h"
#include "cli/term/interrupt.h"

namespace firetower::cli {
namespace {

using CommandFunction = Outcome<int> (*)(const Context&);

constexpr std::pair<std::string_view, CommandFunction> kServerCommands[] = {
    {"top", RunTop},           {"get", RunGet},           {"doctor", RunDoctor},
    {"types", RunTypes},       {"rollouts", RunRollouts}, {"labels", RunLabels},
    {"series", RunSeries},     {"profiles", RunProfiles}, {"record", RunRecord},
    {"policies", RunPolicies}, {"flame", RunFlame},       {"diagnose", RunDiagnose},
    {"mcp", RunMcp},           {"open", RunOpen},         {"heat", RunHeat},
    {"peek", RunPeek},         {"tree", RunTree},
};

using LocalCommand = Outcome<int> (*)(const LocalContext&);

constexpr std::pair<std::string_view, LocalCommand> kLocalCommands[] = {
    {"view", RunView}, {"merge", RunMerge}, {"diff", RunDiff}, {"convert", RunConvert}};

int Tell(const Failure& failure, const std::string& program) {
  std::fputs(failure.Text(program).c_str(), stderr);
  return failure.exit_code;
}

Outcome<int> Version(const Args& args) {
  if (args.Get("output") != "json") return Emit("firetower " FIRETOWER_VERSION "\n", ExitCode::kOk);
  return Emit("{\"name\":\"firetower\",\"version\":\"" FIRETOWER_VERSION "\"}\n", ExitCode::kOk);
}

Outcome<int> Help(const Args& args, const std::string& program) {
  if (args.Has("markdown")) return Emit(HelpMarkdown(), ExitCode::kOk);
  if (args.positionals.empty()) return Emit(HelpText(program), ExitCode::kOk);
  const std::string& name = args.positionals[0];
  const CommandSpec* command = FindCommand(name);
  if (command != nullptr) return Emit(HelpText(program, *command), ExitCode::kOk);
  std::vector<std::string_view> names;
  for (const CommandSpec& known : Commands()) names.push_back(known.name);
  Error error(ErrorCode::kInvalid,
              fmt::format("unknown command '{}'{}", name, DidYouMean(name, names)));
  return UsageFailure(error, program, "");
}

Outcome<int> Completion(const Args& args, const std::string& program) {
  if (!args.positionals.empty()) return Emit(CompletionScript(args.positionals[0]), ExitCode::kOk);
  return UsageFailure(Error(ErrorCode::kInvalid, "'completion' needs a shell: bash or zsh"),
                      program, "completion");
}

Outcome<int64_t> TimeoutNs(const Args& args, const std::string& program) {
  if (!args.Has("timeout")) return 60 * kNsPerSecond;
  Result<int64_t> given = ParseDurationNs(args.Get("timeout"));
  if (given && (*given < kNsPerMs || *given > 3600 * kNsPerSecond)) {
    given = Error(ErrorCode::kInvalid, "it must be from 1ms to 1h");
  }
  if (given) return *given;
  return UsageFailure(Error(given.error()).Context("--timeout"), program, args.command->name);
}

Outcome<int> Run(CommandFunction run, const Args& args, const std::string& program) {
  Outcome<int64_t> timeout_ns = TimeoutNs(args, program);
  if (!timeout_ns) return timeout_ns.failure();
  Outcome<ServerChoice> server = ChooseServer(args, program, *timeout_ns, ProcessEnvironment);
  if (!server) return server.failure();
  InterruptGuard interrupt;
  const HttpClientOptions options{.verbose = args.Has("verbose"), .quiet = args.Has("watch")};
  Context context{{args, program, ReadTerminal(args.Get("color"))},
                  HttpClient(std::move(server->transport), options),
                  interrupt,
                  *timeout_ns,
                  server->namespace_name,
                  server->cluster};
  return run(context);
}

Outcome<int> Dispatch(const Args& args, const std::string& program) {
  // Help is checked before the version, and both before the command's own flags.
  if (args.Has("version") && !args.Has("help")) return Version(args);
  if (args.command == nullptr) return Emit(HelpText(program), ExitCode::kOk);
  std::string_view name = args.command->name;
  if (args.Has("help")) return Emit(HelpText(program, *args.command), ExitCode::kOk);
  if (name == "version") return Version(args);
  if (name == "help") return Help(args, program);
  if (name == "completion") return Completion(args, program);
  if (name == "diff" && std::ranges::any_of(args.positionals, IsAsked))
    return Run(RunAskedDiff, args, program);
  for (const auto& [command, run] : kLocalCommands) {
    if (command == name) return run({args, program, ReadTerminal(args.Get("color"))});
  }
  for (const auto& [command, run] : kServerCommands) {
    if (command == name) return Run(run, args, program);
  }
  return Failure{ExitCode::kFailure, fmt::format("'{}' is not built in", name), "", ""};
}

}  // namespace

int RunCli(const std::string& argv0, const std::vector<std::string>& arguments) {
  std::string program = ProgramName(argv0);
  Result<Args> args = ParseArgs(arguments);
  if (!args) return Tell(UsageFailure(args.error(), program, ""), program);
  Outcome<int> outcome = Dispatch(*args, program);
  return outcome ? *outcome : Tell(outcome.failure(), program);
}

}  // namespace firetower::cli
