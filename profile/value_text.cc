// SPDX-License-Identifier: Apache-2.0
#include "profile/value_text.h"

#include <fmt/core.h>

#include <cmath>

namespace firetower::profile {

std::string FormatCount(int64_t count) {
  std::string digits = std::to_string(count);
  std::string out = count < 0 ? "-" : "";
  digits.erase(0, out.size());
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string FormatValue(double value, std::string_view unit) {
  struct Scale {
    double size;
    const char* suffix;
  };
  constexpr Scale kTimes[] = {{3600e9, "h"}, {60e9, "m"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  constexpr Scale kBytes[] = {
      {1099511627776.0, " TiB"}, {1073741824.0, " GiB"}, {1048576.0, " MiB"}, {1024.0, " KiB"}};
  if (unit == "nanoseconds") {
    for (const Scale& scale : kTimes) {
      if (std::fabs(value) >= scale.size) {
        return fmt::format("{:.1f}{}", value / scale.size, scale.suffix);
      }
    }
    return fmt::format("{:.0f}ns", value);
  }
  if (unit == "bytes") {
    for (const Scale& scale : kBytes) {
      if (std::fabs(value) >= scale.size) {
        return fmt::format("{:.1f}{}", value / scale.size, scale.suffix);
      }
    }
    return fmt::format("{:.0f} B", value);
  }
  if (std::fabs(value) >= 0x1p63) return fmt::format("{:.3g}", value);  // no integer to round to
  return FormatCount(std::llround(value));
}

}  // namespace firetower::profile
