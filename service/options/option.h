// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::service {

// The typed part of an Option, bound to the field that it sets.
struct ValueType {
  std::string allowed;  // for people: "1 to 3600"
  // Reads a text into the field. kInvalid says why not; the caller adds where and what is allowed.
  std::function<Status(std::string_view text)> set;
  std::function<std::string()> get;  // a spelling that `set` reads back
};

// One row of a program's table, from which flags, configuration file, --help and the reference page
// come. It belongs to one configuration, which outlives it.
struct Option {
  std::string_view name;         // "window-seconds": --window-seconds, and the key in the file
  std::string_view group;        // heading in the help; "" if there are none
  std::string_view placeholder;  // "SECONDS"; empty for a switch, which needs no value
  std::string_view help;         // one sentence or two
  ValueType value;
  bool is_list = false;                // may be a YAML sequence
  std::string_view default_text = {};  // if the default is determined at start
  bool may_hold_secret = false;        // errors do not repeat the value

  bool is_switch() const { return placeholder.empty(); }
};

// Returns nullptr if there is none.
const Option* FindOption(std::span<const Option> options, std::string_view name);

// Sets one option. An error reads "<where>: '<text>' is refused: <why>; allowed: <what>".
Status SetOption(const Option& option, std::string_view text, const std::string& where);

}  // namespace firetower::service
