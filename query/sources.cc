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

}  // namespace firetower::query
