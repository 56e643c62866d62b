// SPDX-License-Identifier: Apache-2.0
// The table of commands and flags. Parsing, help, completion and docs/reference/cli.md are all made
// from it.
#pragma once

#include <span>
#include <string_view>

namespace firetower::cli {

struct FlagSpec {
  std::string_view name;   // without dashes
  char letter;             // 0: none
  std::string_view value;  // how help calls the value; "" for a switch
  std::string_view help;
  std::span<const std::string_view> choices = {};  // the allowed values; empty: any
  bool may_be_empty = false;                       // "" and no flag differ
};

struct FlagGroup {
  std::string_view title;
  std::span<const FlagSpec> flags;
};

struct Example {
  std::string_view comment;
  std::string_view arguments;  // after the program's name
};

struct CommandSpec {
  std::string_view name;
  std::string_view summary;                              // one line, no full stop
  std::string_view description;                          // a paragraph or two
  std::string_view positional;                           // as usage shows it; "" for none
  std::span<const std::string_view> positional_choices;  // empty: anything
  size_t max_positionals;
  std::span<const Example> examples;
  std::span<const FlagGroup> groups;
  bool positional_files = false;  // they name files: completion offers those

  bool takes_selector() const { return positional.ends_with("[SELECTOR]"); }
};

std::span<const CommandSpec> Commands();
std::span<const FlagSpec> GlobalFlags();
// Returns nullptr if there is no such command.
const CommandSpec* FindCommand(std::string_view name);

struct ExitCode {
  static constexpr int kOk = 0;
  static constexpr int kFailure = 1;
  static constexpr int kUsage = 2;
  static constexpr int kThreshold = 3;
  static constexpr int kNoData = 4;
  static constexpr int kUnreachable = 5;
  static constexpr int kInterrupted = 130;  // 128 and the signal's number, as a shell says it
  static constexpr int kTerminated = 143;
};

struct ExitCodeSpec {
  int code;
  std::string_view meaning;
};
std::span<const ExitCodeSpec> ExitCodes();

}  // namespace firetower::cli
