// SPDX-License-Identifier: Apache-2.0
#include "profile/otlp/response.h"

#include <algorithm>
#include <climits>

#include "base/json.h"
#include "proto/otlp/profiles.pb.h"

namespace firetower::profile {

Result<OtlpResponse> DecodeOtlpResponse(std::string_view bytes) {
  proto::otlp::ExportProfilesServiceResponse response;
  if (bytes.size() > INT_MAX ||
      !response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Error(ErrorCode::kCorrupt, "not an ExportProfilesServiceResponse");
  const auto& partial = response.partial_success();
  const int64_t rejected = std::max<int64_t>(partial.rejected_profiles(), 0);
  return OtlpResponse{.rejected_profiles = static_cast<uint64_t>(rejected),
                      .message = ToValidUtf8(partial.error_message())};
}

}  // namespace firetower::profile
