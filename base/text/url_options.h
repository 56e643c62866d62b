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

// Parses the options behind the '?' of a URL that an operator wrote: NAME=VALUE&NAME=VALUE, with
// percent-encoded values. Keeps their order; no name may occur twice. The names refer to `query`.
// kInvalid for anything else; the message names the option but never repeats a value, which may be
// a secret.
Result<std::vector<UrlOption>> ParseUrlOptions(std::string_view query);

}  // namespace firetower
