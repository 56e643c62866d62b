// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// What an ExportProfilesServiceResponse says beside "taken".
struct OtlpResponse {
  uint64_t rejected_profiles = 0;
  std::string message = {};
};
// kCorrupt for bytes that are no such message; unknown fields are passed over.
Result<OtlpResponse> DecodeOtlpResponse(std::string_view bytes);

}  // namespace firetower::profile
