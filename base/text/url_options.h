// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firetower {

struct UrlOption {
  std::string_view name = {};
  std::string value = {};  // decoded, printable ASCII, not empty
};

// The options behind the '?' of a URL that an operator wrote: NAME=VALUE&NAME=VALUE, in their
// order, none of them twice, with values that are percent-encoded. The names refer to `query`.
// kInvalid for anything else; the message names the option and repeats no value, which may be a
// secret.
Result<std::vector<UrlOption>> ParseUrlOptions(std::string_view query);

}  // namespace firetower
