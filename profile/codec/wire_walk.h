// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// One top-level field of a protobuf message.
struct WireField {
  int number = 0;
  bool is_bytes = false;  // else a number
  uint64_t number_value = 0;
  std::string_view bytes;  // into the message
};

// Calls `visit` for each field of `message` (below 2 GiB), without a copy, until one fails; fields
// of fixed width are passed over (pprof has none). kCorrupt when the bytes are no message.
Status WalkFields(std::string_view message,
                  const std::function<Status(const WireField& field)>& visit);

}  // namespace firetower::profile
