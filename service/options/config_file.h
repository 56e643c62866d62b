// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "service/options/option.h"

namespace firetower::service {

// One `key: value` of a configuration file. Lists are joined with commas.
struct FileSetting {
  std::string key;
  std::string value;
  bool is_list = false;
  int line = 0;  // from 1
};

// The settings of a YAML document: one flat mapping of names to scalars or lists of scalars. A
// missing value, a nested mapping, a second document or a key given twice is kInvalid; the message
// starts with "<name>:<line>: ".
Result<std::vector<FileSetting>> ParseConfigFile(std::string_view yaml, const std::string& name);

// Reads the file that the option "config" names into the options.
Status ApplyFile(std::span<const Option> options, const std::string& path);

}  // namespace firetower::service
