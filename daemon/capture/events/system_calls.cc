// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/events/system_calls.h"

namespace firetower::daemon {
namespace {

struct Call {
  std::string_view name;
  int number;
};
// Made by the build from <asm/unistd_64.h>: {"read", 0}, …
constexpr Call kCalls[] = {
#include "system_calls.inc"
};

}  // namespace

std::optional<int> SystemCallNumber(std::string_view name) {
  for (const Call& call : kCalls) {
    if (call.name == name) return call.number;
  }
  return std::nullopt;
}

}  // namespace firetower::daemon
