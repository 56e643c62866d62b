// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/runtimes_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

namespace firetower::daemon {
namespace {

std::string Describe(const std::string& runtime, const RuntimeSamples& samples) {
  const uint64_t all = samples.named + samples.unnamed + samples.none;
  if (all == 0) return "";
  return fmt::format("{}: functions by name in {:.1f}% of {} samples", runtime,
                     100.0 * static_cast<double>(samples.named) / static_cast<double>(all), all);
}

}  // namespace

Check RuntimesCheck(const std::optional<RuntimeFacts>& facts) {
  Check check{.name = "runtimes", .status = CheckStatus::kOk, .message = "", .fix = ""};
  if (!facts) {
    check.message = "not known yet";
    return check;
  }
  const auto add = [&](const std::string& text) {
    if (!text.empty()) check.message += (check.message.empty() ? "" : "; ") + text;
  };
  for (const auto& [runtime, samples] : facts->window) add(Describe(runtime, samples));
  constexpr size_t kMost = 4;
  for (size_t i = 0; i < std::min(facts->unsupported.size(), kMost); ++i) {
    const UnsupportedRuntime& one = facts->unsupported[i];
    add(fmt::format("{} ({}): {} ({} samples)", one.runtime, one.file, one.why, one.samples));
  }
  if (facts->unsupported.size() > kMost)
    add(fmt::format("and {} more", facts->unsupported.size() - kMost));
  if (check.message.empty()) check.message = "no interpreter was seen in the last window";
  if (!facts->unsupported.empty()) {
    check.status = CheckStatus::kWarn;
    check.fix = "their stacks show the interpreter's own functions; see docs/hotspots.md";
  }
  return check;
}

}  // namespace firetower::daemon
