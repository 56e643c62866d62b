// SPDX-License-Identifier: Apache-2.0
#include "cli/files/compared_side.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/clock.h"

namespace firetower::cli {
namespace {

// Windows start and end some milliseconds late; such a difference is not reported.
constexpr double kSameTime = 1.03;

std::string Seconds(int64_t ns) {
  return fmt::format("{:.1f} s", static_cast<double>(ns) / kNsPerSecond);
}

std::string CoveredLine(std::string_view name, const ComparedSide& side) {
  if (side.covered_ns == 0) return "";
  return fmt::format("{}: {} covered{}\n", name, Seconds(side.covered_ns),
                     side.asked_ns == 0 ? "" : fmt::format(" of {} asked", Seconds(side.asked_ns)));
}

}  // namespace

std::string CoveredText(const ComparedSide& side) { return Seconds(side.covered_ns); }

std::string CoveredLines(const ComparedSide& before, const ComparedSide& after) {
  const bool are_files = before.asked_ns == 0 && after.asked_ns == 0;
  if (are_files && !CoverDifferentTimes(before, after)) return "";
  return CoveredLine("before", before) + CoveredLine("after", after);
}

bool CoverDifferentTimes(const ComparedSide& before, const ComparedSide& after) {
  const auto [less, more] = std::minmax(before.covered_ns, after.covered_ns);
  return less > 0 && static_cast<double>(more) > kSameTime * static_cast<double>(less);
}

double SecondsScale(const ComparedSide& before, const ComparedSide& after) {
  const bool are_files = before.asked_ns == 0 && after.asked_ns == 0;
  if (are_files || before.covered_ns == 0 || after.covered_ns == 0) return 1;
  return static_cast<double>(before.covered_ns) / static_cast<double>(after.covered_ns);
}

}  // namespace firetower::cli
