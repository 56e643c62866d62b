// SPDX-License-Identifier: Apache-2.0
#include "cli/args/parse.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/suggest.h"

namespace firetower::cli {
namespace {

Error Usage(std::string message) { return Error(ErrorCode::kInvalid, std::move(message)); }

constexpr std::string_view kUnset = "omit it, or check whether a variable of the shell is unset";
constexpr std::string_view kOneWord = "; a selector is one word, such as deployment/checkout";

bool LooksLikeSelector(std::string_view text) {
  return text.find_first_of("{/=") != std::string_view::npos;
}

// The flags that may stand where we are: the global ones and those of the command, if it is known.
std::vector<const FlagSpec*> FlagsOf(const CommandSpec* command) {
  std::vector<const FlagSpec*> flags;
  if (command != nullptr) {
    for (const FlagGroup& group : command->groups) {
      for (const FlagSpec& flag : group.flags) flags.push_back(&flag);
    }
  }
  for (const FlagSpec& flag : GlobalFlags()) flags.push_back(&flag);
  return flags;
}

// Returns "a, b or c".
std::string OneOf(std::span<const std::string_view> choices) {
  std::string out;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) out += i + 1 == choices.size() ? " or " : ", ";
    out += choices[i];
  }
  return out;
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  Result<Args> Parse() {
    // --help anywhere asks for help, however wrong the rest is.
    bool wants_help = false;
    for (const std::string& text : arguments_) {
      if (text == "--") break;
      if (text == "--help" || text == "-h") wants_help = true;
      if (args_.command == nullptr && !text.starts_with('-')) args_.command = FindCommand(text);
    }
    if (wants_help) {
      args_.flags["help"] = "true";
      return args_;
    }
    args_.command = nullptr;
    while (at_ < arguments_.size()) RETURN_IF_ERROR(Next());
    RETURN_IF_ERROR(CheckPositionals());
    return args_;
  }

 private:
  Status Next() {
    const std::string& text = arguments_[at_++];
    if (only_positionals_ || text == "-" || !text.starts_with('-')) return Word(text);
    if (text == "--") {
      only_positionals_ = true;
      return OkStatus();
    }
    return text.starts_with("--") ? LongFlag(text) : ShortFlag(text);
  }

  Status Word(const std::string& text) {
    if (args_.command != nullptr) {
      // A script's unset variable gives an empty argument ("$UNSET"), which would select
      // everything.
      if (text.empty()) {
        return Usage(fmt::format("an argument of '{}' is empty; {}", args_.command->name, kUnset));
      }
      args_.positionals.push_back(text);
      return OkStatus();
    }
    args_.command = FindCommand(text);
    if (args_.command != nullptr) return OkStatus();
    std::vector<std::string_view> names;
    for (const CommandSpec& command : Commands()) names.push_back(command.name);
    return Usage(fmt::format("unknown command '{}'{}", text, DidYouMean(text, names)));
  }

  Status LongFlag(std::string_view text) {
    size_t equals = text.find('=');
    std::string_view name = text.substr(2, equals == std::string_view::npos ? equals : equals - 2);
    std::vector<std::string_view> names;
    for (const FlagSpec* flag : FlagsOf(args_.command)) {
      if (flag->name != name) {
        names.push_back(flag->name);
        continue;
      }
      if (equals == std::string_view::npos) return Take(*flag, std::nullopt);
      return Take(*flag, std::string(text.substr(equals + 1)));
    }
    std::string_view nearest = NearestName(name, names);
    return Usage(
        fmt::format("unknown flag '--{}'{}{}", name, ForCommand(),
                    nearest.empty() ? "" : fmt::format("; did you mean '--{}'?", nearest)));
  }

  Status ShortFlag(std::string_view text) {
    for (const FlagSpec* flag : FlagsOf(args_.command)) {
      if (flag->letter == 0 || flag->letter != text[1]) continue;
      if (text.size() == 2) return Take(*flag, std::nullopt);
      if (flag->value.empty()) {
        return Usage(fmt::format("'{}': -{} takes no value", text, text[1]));
      }
      std::string_view value = text.substr(2);
      if (value.starts_with('=')) value.remove_prefix(1);
      return Take(*flag, std::string(value));
    }
    return Usage(fmt::format("unknown flag '{}'{}", text.substr(0, 2), ForCommand()));
  }

  Status Take(const FlagSpec& flag, std::optional<std::string> value) {
    if (flag.value.empty()) {
      if (value) return Usage(fmt::format("--{} takes no value", flag.name));
      return Keep(flag, "true");
    }
    if (!value) {
      if (at_ == arguments_.size()) {
        return Usage(fmt::format("--{} needs a value: {}", flag.name, flag.value));
      }
      value = arguments_[at_++];
    }
    if (!flag.choices.empty() &&
        std::find(flag.choices.begin(), flag.choices.end(), *value) == flag.choices.end()) {
      return Usage(fmt::format("--{} is '{}': it must be one of {}{}", flag.name, *value,
                               fmt::join(flag.choices, ", "), DidYouMean(*value, flag.choices)));
    }
    if (value->empty() && !flag.may_be_empty) {
      return Usage(fmt::format("--{} is empty: it needs {}; {}", flag.name, flag.value, kUnset));
    }
    return Keep(flag, *std::move(value));
  }

  Status Keep(const FlagSpec& flag, std::string value) {
    if (args_.flags.emplace(flag.name, std::move(value)).second) return OkStatus();
    return Usage(fmt::format("--{}{} is given twice, but only one counts; omit one", flag.name,
                             flag.letter == 0 ? "" : fmt::format(" (-{})", flag.letter)));
  }

  // The last argument, where the command takes a selector and it can be nothing else.
  void TakeSelector() {
    const CommandSpec& command = *args_.command;
    const size_t count = args_.positionals.size();
    if (!command.takes_selector() || count == 0) return;
    const bool is_last = count == command.max_positionals;
    const bool needs_first = !command.positional.starts_with('[');
    if (!is_last && (needs_first || !LooksLikeSelector(args_.positionals[0]))) return;
    args_.selector = std::move(args_.positionals.back());
    args_.positionals.pop_back();
  }

  Status CheckPositionals() {
    const CommandSpec* command = args_.command;
    if (command == nullptr) return OkStatus();
    if (args_.positionals.size() > command->max_positionals) {
      const std::string& extra = args_.positionals[command->max_positionals];
      return Usage(fmt::format("'{}' is one argument too many for '{}'{}", extra, command->name,
                               command->takes_selector() ? kOneWord : ""));
    }
    TakeSelector();
    std::span<const std::string_view> choices = command->positional_choices;
    if (choices.empty() || args_.positionals.empty()) return OkStatus();
    const std::string& first = args_.positionals[0];
    if (std::find(choices.begin(), choices.end(), first) != choices.end()) return OkStatus();
    // Two words, neither of which is a selector: `top deployment checkout`.
    const std::string meant = DidYouMean(first, choices);
    const bool in_two = meant.empty() && !args_.selector.empty() && !LooksLikeSelector(first) &&
                        !LooksLikeSelector(args_.selector);
    return Usage(fmt::format("'{}' takes {}, not '{}'{}", command->name, OneOf(choices), first,
                             in_two ? kOneWord : meant));
  }

  std::string ForCommand() const {
    return args_.command == nullptr ? "" : fmt::format(" for '{}'", args_.command->name);
  }

  const std::vector<std::string>& arguments_;
  size_t at_ = 0;
  bool only_positionals_ = false;
  Args args_;
};

}  // namespace

Result<Args> ParseArgs(const std::vector<std::string>& arguments) {
  return Parser(arguments).Parse();
}

}  // namespace firetower::cli
