// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace firetower::daemon {

// The interpreter that a file is, as far as the file tells.
template <typename Build>
struct FoundRuntime {
  std::string version;         // "3.11"; empty: the file is none of this kind
  std::optional<Build> build;  // how to find its frames
  std::string why;             // where there is no build, for people
};

}  // namespace firetower::daemon
