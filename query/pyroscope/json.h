// SPDX-License-Identifier: Apache-2.0
// Messages between their two forms (protobuf.dev/programming-guides/json). What answers knows the
// binary one alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "query/pyroscope/schema.h"

namespace firetower::query::pyroscope {

// Reads both spellings of a name, integers as numbers or texts, enums by name or number; members
// that the schema does not have are ignored, null is as good as missing. kInvalid for the rest.
Result<std::string> MessageFromJson(std::string_view json, const MessageSchema& schema);

// Members in the schema's order; 64-bit integers are texts, what has its default is left out.
// kCorrupt when the bytes are no such message, kExhausted past `max_bytes`.
Result<std::string> MessageToJson(std::string_view message, const MessageSchema& schema,
                                  size_t max_bytes);

}  // namespace firetower::query::pyroscope
