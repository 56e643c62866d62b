// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/config.h"

namespace firetower::hub {

// One flag of firetower-hub: what parses it, and what tells of it.
struct Option {
  std::string_view name;
  std::string_view placeholder;
  std::string_view help;
  std::string allowed;
  std::function<Status(Config&, const std::string& text)> set;
  std::string default_text;  // empty: none
};

std::vector<Option> ConfigOptions();

}  // namespace firetower::hub
