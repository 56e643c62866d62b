// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/slice.h"

#include <algorithm>
#include <iterator>

namespace firetower::daemon {

std::string_view StopReason(uint8_t stop) {
  switch (stop) {
    case FT_STOP_ROOT:
    case FT_STOP_NO_USER:
      return "";
    case FT_STOP_PAGE:
      return "page";
    case FT_STOP_FRAME_POINTER:
      return "frame_pointer";
    case FT_STOP_RETURN:
      return "return_address";
    case FT_STOP_DEPTH:
      return "depth";
    case FT_STOP_EXEC:
      return "exec";
    case FT_STOP_REFUSED:
      return "user_reads_refused";
    case FT_STOP_COLD:
      return "cold";
    case FT_STOP_RUNTIME:
      return "runtime";
    case kStopNoMapping:
      return "no_mapping";
    case kStopStackLost:
      return "stack_lost";
    default:
      return "unknown";
  }
}

std::string_view WaitStateName(uint8_t state) {
  constexpr std::string_view kNames[] = {"preempted", "sleeping", "uninterruptible", "stopped"};
  static_assert(std::size(kNames) == FT_WAIT_STATES);
  return state < FT_WAIT_STATES ? kNames[state] : "";
}

std::span<const Frame> Slice::UserFrames(uint32_t stack) const {
  const std::span<const Frame> all = FramesOf(stack);
  const auto user = std::ranges::find_if(
      all, [](const Frame& frame) { return frame.module != ModuleRegistry::kKernel; });
  return all.subspan(static_cast<size_t>(user - all.begin()));
}

void Slice::Clear() {
  frames.clear();
  stacks.clear();
  rows.clear();
  timed.clear();
  allocated.clear();
  freed.clear();
  untimed = 0;
  labels.clear();
  containers.clear();
  modules.clear();
  functions.clear();
  functions_gone.clear();
  gone.clear();
  attribution = {};
  stops = {};
  kernel_code = false;
  ends_window = false;
}

}  // namespace firetower::daemon
