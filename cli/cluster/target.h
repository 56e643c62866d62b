// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::cli {

// The target of `record`.
struct RecordTarget {
  std::string text;     // as given
  std::string stem;     // a name for the policy, after "record-": "checkout"
  std::string targets;  // spec.targets, as JSON
};

// Parses KIND/NAME with kubectl's short forms ("deploy/checkout"), or label requirements
// ("app=checkout,tier=web"). kInvalid says what is allowed.
Result<RecordTarget> ParseTarget(std::string_view text);

}  // namespace firetower::cli
