// SPDX-License-Identifier: Apache-2.0
#include "profile/value_text.h"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <span>

namespace firetower::profile {

namespace {

struct Scale {
  double size;
  const char* suffix;
};

// Returns the largest unit in which the rounded value is at least one: 999.96 ms are 1.0s. Null:
// the value is smaller than all units.
const Scale* ScaleOf(double value, std::span<const Scale> scales) {
  for (size_t i = 0; i < scales.size(); ++i) {
    const double shown = i + 1 < scales.size() ? scales[i + 1].size / 10 : 1;
    if (std::fabs(value) >= scales[i].size - shown / 2) return &scales[i];
  }
  return nullptr;
}

}  // namespace

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
  constexpr Scale kTimes[] = {{3600e9, "h"}, {60e9, "m"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  constexpr Scale kBytes[] = {
      {1099511627776.0, " TiB"}, {1073741824.0, " GiB"}, {1048576.0, " MiB"}, {1024.0, " KiB"}};
  if (unit == "nanoseconds") {
    if (const Scale* scale = ScaleOf(value, kTimes))
      return fmt::format("{:.1f}{}", value / scale->size, scale->suffix);
    return fmt::format("{:.0f}ns", value);
  }
  if (unit == "bytes") {
    if (const Scale* scale = ScaleOf(value, kBytes))
      return fmt::format("{:.1f}{}", value / scale->size, scale->suffix);
    return fmt::format("{:.0f} B", value);
  }
  if (std::fabs(value) >= 0x1p63) return fmt::format("{:.3g}", value);  // no integer to round to
  return FormatCount(std::llround(value));
}

}  // namespace firetower::profile
