// SPDX-License-Identifier: Apache-2.0
// Helpers for the writers of JSON in this folder.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json.h"

namespace firetower::k8s {

// Returns at most `count` characters of valid UTF-8, counted as for a schema's maxLength.
inline std::string CutChars(std::string_view text, size_t count) {
  std::string valid = ToValidUtf8(text);
  size_t chars = 0;
  for (size_t i = 0; i < valid.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(valid[i]) & 0xc0) != 0x80;
    if (begins && ++chars > count) {
      valid.resize(i);
      break;
    }
  }
  return valid;
}

// Never throws: replaces bytes that are not UTF-8.
template <typename Json>
std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace firetower::k8s
