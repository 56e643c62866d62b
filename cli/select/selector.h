// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::cli {

// What a command's flags say of a selector's pods.
struct SelectorScope {
  std::string namespace_name = {};  // "": of all
  bool is_told = false;        // by -n; else it is the kubeconfig's, for a question without one
  std::string container = {};  // "": all
};

// A question's selector as the API takes it, in `scope`. KIND/NAME becomes matchers on what
// profiles know of their pods; label matchers stay, and what cannot be read is left to the server
// to refuse. kInvalid says what is wrong with KIND/NAME and what to write.
Result<std::string> SelectorWithin(std::string_view text, const SelectorScope& scope);

}  // namespace firetower::cli
