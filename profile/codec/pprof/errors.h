// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// Makes the error for a wrong entry of a pprof file; entries of a kind are counted from 1.
inline Error Corrupt(std::string_view kind, size_t number, std::string_view why) {
  return {ErrorCode::kCorrupt, fmt::format("pprof: {} {}: {}", kind, number, why)};
}

inline Error NotAMessage(std::string_view kind, size_t number) {
  return Corrupt(kind, number, "not a valid message");
}

}  // namespace firetower::profile
