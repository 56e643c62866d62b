// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/modules_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace firetower::daemon {
namespace {

// The share of the alert FiretowerFramesUnnamed.
constexpr double kMuch = 0.2;
// Below this a reason is not worth a word.
constexpr double kLittle = 0.01;
// Shares of fewer frames are chance.
constexpr uint64_t kFewFrames = 100;

struct Reason {
  std::string_view text;
  std::string_view fix;
};

// In the order of NameLoss.
constexpr Reason kReasons[kNameLosses] = {
    {"their program ended before its file was read",
     "programs that run for less than a second often have no names; nothing is wrong"},
    {"the kernel refuses their file",
     "correct the failed checks of capabilities, and check the node's audit log for denials of "
     "firetowerd by SELinux or AppArmor"},
    {"neither their process nor a parent has the mapped file",
     "restart programs whose files were deleted or replaced while they run"},
    {"their file is not a complete ELF image", "check whether the file is damaged"},
    {"their file is still being read", "check again in a minute"},
    {"their file has no symbol there",
     "install debug files on the node or set --debuginfod-urls; see docs/hotspots.md"},
    {"a runtime wrote their code ([jit])",
     "make the runtime write a perf map; see docs/hotspots.md"},
    {"no known mapping contains their address",
     "mostly programs that ended early; nothing is wrong"},
};

std::string Describe(const NameFacts::Loss& loss, const Reason& reason, double share) {
  std::string text = fmt::format("{:.1f}%: {}", share * 100, reason.text);
  if (loss.files > 1) text += fmt::format(" ({} files, for example {})", loss.files, loss.example);
  if (loss.files == 1) text += fmt::format(" ({})", loss.example);
  return text;
}

}  // namespace

Check ModulesCheck(const std::optional<NameFacts>& facts) {
  Check check{.name = "modules", .status = CheckStatus::kOk, .message = "", .fix = ""};
  if (!facts || facts->frames < kFewFrames) {
    check.message = !facts ? "not known yet: no window has ended"
                           : fmt::format("only {} frames in the last window", facts->frames);
    return check;
  }
  const auto share_of = [&](uint64_t frames) {
    return static_cast<double>(frames) / static_cast<double>(facts->frames);
  };
  uint64_t unnamed = 0;
  std::vector<size_t> order;  // of reasons, the most frequent one first
  for (size_t i = 0; i < kNameLosses; ++i) {
    unnamed += facts->losses[i].frames;
    if (share_of(facts->losses[i].frames) >= kLittle) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater(),
                           [&](size_t i) { return facts->losses[i].frames; });
  check.message =
      fmt::format("{:.1f}% of the last window's frames have no name", share_of(unnamed) * 100);
  for (const size_t i : order) {
    check.message += i == order.front() ? ", " : "; ";
    check.message += Describe(facts->losses[i], kReasons[i], share_of(facts->losses[i].frames));
  }
  constexpr auto kDenied = static_cast<size_t>(NameLoss::kDenied);
  const bool is_denied = share_of(facts->losses[kDenied].frames) >= kLittle;
  const bool is_much = share_of(unnamed) >= kMuch;
  if (!is_denied && !is_much) return check;
  check.status = CheckStatus::kWarn;
  if (is_denied) {
    check.fix = kReasons[kDenied].fix;
  } else if (!order.empty()) {
    check.fix = kReasons[order.front()].fix;
  }
  return check;
}

}  // namespace firetower::daemon
