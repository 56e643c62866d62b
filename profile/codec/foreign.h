// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// For files that are known by their first bytes, and are not read: says what the file is, and which
// command makes something of it that is. `unpack_command` is that of Unpacked where they came out
// of a packed file, which the other command cannot take. kUnsupported.
std::optional<Error> ForeignFile(std::string_view bytes, std::string_view unpack_command = {});

}  // namespace firetower::profile
