// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace firetower::daemon {

enum class CheckStatus { kOk, kWarn, kFail };

// One line of `doctor`: what was looked at, what was found, and what a person can do about it.
struct Check {
  std::string name;
  CheckStatus status = CheckStatus::kOk;
  std::string message;
  std::string fix;  // empty when the status is kOk
};

constexpr std::string_view CheckStatusName(CheckStatus status) {
  switch (status) {
    case CheckStatus::kOk:
      return "ok";
    case CheckStatus::kWarn:
      return "warn";
    case CheckStatus::kFail:
      return "fail";
  }
  return "fail";
}

}  // namespace firetower::daemon
