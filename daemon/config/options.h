// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "daemon/config/config.h"

namespace firetower::daemon {

// One row of the table from which flags, configuration file, --help and the reference page come.
struct Option {
  std::string_view name;         // "window-seconds": --window-seconds, and the key in the file
  std::string_view group;        // heading in the help
  std::string_view placeholder;  // "SECONDS"; empty for a switch, which needs no value
  std::string_view help;         // one sentence or two
  std::string allowed;           // for people: "1 to 3600"
  // Reads `text` into the field. kInvalid says why not; the caller adds where and what is allowed.
  std::function<Status(Config&, std::string_view text)> set;
  std::function<std::string(const Config&)> get;  // a spelling that `set` reads back
  bool is_list = false;                           // may be a YAML sequence
  std::string_view default_text = {};             // where the default is found out at start
  bool may_hold_secret = false;                   // errors do not repeat the value

  bool is_switch() const { return placeholder.empty(); }
};

// In the order of the help; rows of one group stand together.
std::vector<Option> ConfigOptions();

// Sets one option. An error reads "<where>: '<text>' is refused: <why>; allowed: <what>".
Status SetOption(const Option& option, Config& config, std::string_view text,
                 const std::string& where);

// Checks rules over several rows: the slice divides the window, the default rate keeps the ceiling.
Status CheckConfig(const Config& config);

}  // namespace firetower::daemon
