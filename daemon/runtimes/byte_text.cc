// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/byte_text.h"

#include <algorithm>

#include "base/json.h"

namespace firetower::daemon {

std::string TextOfBytes(std::string_view bytes, uint64_t length) {
  std::string text = ToValidUtf8(bytes.substr(0, bytes.find('\0')));
  if (!text.empty() && bytes.size() < length) text += "…";
  return text;
}

std::string TextOfBytes(const ft_text& text) {
  const size_t bytes = std::min<size_t>(text.bytes, sizeof(text.text));
  return TextOfBytes({reinterpret_cast<const char*>(text.text), bytes}, text.length);
}

}  // namespace firetower::daemon
