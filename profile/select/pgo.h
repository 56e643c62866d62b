// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/profile.h"

namespace firetower::profile {

struct GoPgo {
  Profile profile = {};
  std::string binary = {};  // the path of the binary that it is of
  int64_t samples = 0;      // of that binary
};

// Returns the profile that `go build -pgo` takes: one Go binary's CPU samples, its frames alone,
// with the linker's names of functions, the lines of calls and the first lines of functions;
// without labels. `binary` is its path or the last part of it; empty: the one with most samples
// among those whose functions have first lines, as Go's have with --symbols=full. kNotFound: there
// is none of that name. kUnsupported: it is no CPU profile, or the binary's functions have no
// lines; the message says what to do.
Result<GoPgo> ForGoPgo(const Profile& profile, std::string_view binary);

}  // namespace firetower::profile
