// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::query {

// The part of a selector that comes from a command's flags.
struct SelectorScope {
  std::string namespace_name = {};  // "": of all
  bool is_told = false;        // by -n; else it is the kubeconfig's, for a question without one
  std::string container = {};  // "": all
};

// Returns the selector for the API, restricted to `scope`. KIND/NAME becomes label matchers; label
// matchers stay, and invalid ones are left for the server to refuse. kInvalid says what is wrong
// with KIND/NAME and what to write.
Result<std::string> SelectorWithin(std::string_view text, const SelectorScope& scope);

}  // namespace firetower::query
