// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// Recognises files by their first bytes that cannot be read. Returns a kUnsupported error that says
// what the file is and which command converts it. `unpack_command` is that of Unpacked if the bytes
// came out of a packed file, which the converting command cannot read.
std::optional<Error> ForeignFile(std::string_view bytes, std::string_view unpack_command = {});

}  // namespace firetower::profile
