// SPDX-License-Identifier: Apache-2.0
// The questions of an assistant: each tool reads, and none changes anything.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/message.h"

namespace firetower::query {

// Asks the server's API: a path and its parameters. Returns the body.
using AskApi = std::function<Result<std::string>(std::string_view, const net::NamedValues&)>;

// The arguments of a call, by name; numbers are written out.
using ToolArguments = std::map<std::string, std::string>;

struct ToolParameter {
  std::string_view name;
  std::string_view help;
  bool is_number = false;
  bool required = false;
};

struct Tool {
  std::string_view name;
  std::string_view help;
  std::span<const ToolParameter> parameters;
  Result<std::string> (*call)(const AskApi& ask, const ToolArguments& arguments);
};

std::span<const Tool> Tools();

// Turns KIND/NAME into the API's label matchers; those stay as they are. kInvalid says what is
// wrong.
Result<std::string> ToolSelector(std::string_view selector);

}  // namespace firetower::query
