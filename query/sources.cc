// SPDX-License-Identifier: Apache-2.0
#include "query/sources.h"

namespace firetower::query {

std::string_view CheckStatusName(CheckStatus status) {
  switch (status) {
    case CheckStatus::kSkip:
      return "skip";
    case CheckStatus::kOk:
      return "ok";
    case CheckStatus::kWarn:
      return "warn";
    case CheckStatus::kFail:
      return "fail";
  }
  return "fail";
}

std::string_view PolicyHealthName(PolicyHealth health) {
  switch (health) {
    case PolicyHealth::kOk:
      return "ok";
    case PolicyHealth::kOff:
      return "off";
    case PolicyHealth::kUnknown:
      return "unknown";
    case PolicyHealth::kDegraded:
      return "degraded";
    case PolicyHealth::kRefused:
      return "refused";
  }
  return "unknown";
}

}  // namespace firetower::query
