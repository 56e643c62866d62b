// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace firetower {

// Returns the inside of a JSON string literal (RFC 8259 §7). Replaces bytes that are not UTF-8 by
// U+FFFD, so that the result is always valid JSON: symbol names and comms are hostile input.
std::string JsonEscape(std::string_view text);

// Returns `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string ToValidUtf8(std::string_view text);

bool IsValidUtf8(std::string_view text);

// Returns a JSON value as an integer, or nothing for other values. 1e63 and 2^63 do not fit an
// int64_t, and nlohmann's own conversion of 1e63 is undefined behaviour. `Json` is nlohmann's
// basic_json, which this header does not include.
template <typename Json>
std::optional<int64_t> JsonInteger(const Json& json) {
  if (!json.is_number_integer()) return std::nullopt;
  if (json.is_number_unsigned() && json.template get<uint64_t>() > INT64_MAX) return std::nullopt;
  return json.template get<int64_t>();
}

// Reads the member `name`, an integer from 0 to `most`, into `out`. Returns false when it is
// missing or has another value.
template <typename Json>
bool JsonNumber(const Json& json, const char* name, uint64_t most, uint64_t& out) {
  const auto found = json.find(name);
  if (found == json.end()) return false;
  const std::optional<int64_t> number = JsonInteger(*found);
  if (!number || *number < 0 || static_cast<uint64_t>(*number) > most) return false;
  out = static_cast<uint64_t>(*number);
  return true;
}

}  // namespace firetower
