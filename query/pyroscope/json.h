// SPDX-License-Identifier: Apache-2.0
// Messages between their two forms (protobuf.dev/programming-guides/json). What answers knows the
// binary one alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace google::protobuf {
class Descriptor;
}  // namespace google::protobuf

namespace firetower::query::pyroscope {

// Stands for a name that this version does not know, in a field of any enum.
inline constexpr uint64_t kUnknownEnum = INT32_MAX;

// Reads both spellings of a name, integers as numbers or texts, enums by name or number; members
// that the message does not have are ignored, null is as good as missing. kInvalid for the rest.
Result<std::string> MessageFromJson(std::string_view json,
                                    const google::protobuf::Descriptor& type);

// Writes 64-bit integers as texts, and leaves out what has its default. `message` is an encoder's
// whole output, with each field once: it is not held as objects, which are several times as large.
// Give it no bytes of others: protobuf 3.21 does not return from a packed field that is cut.
// kExhausted past `max_bytes`.
Result<std::string> MessageToJson(std::string_view message,
                                  const google::protobuf::Descriptor& type, size_t max_bytes);

}  // namespace firetower::query::pyroscope
