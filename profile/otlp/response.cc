// SPDX-License-Identifier: Apache-2.0
#include "profile/otlp/response.h"

#include <algorithm>

#include "base/json.h"
#include "profile/codec/pprof/wire.h"
#include "profile/otlp/fields.h"

namespace firetower::profile {
namespace {

// False when the bytes are no such message.
bool ReadPartialSuccess(std::string_view bytes, OtlpResponse* response) {
  return ForEachField(bytes, [&](const WireField& field) {
    if (field.number == otlp_field::kRejectedProfiles && !field.is_bytes) {
      response->rejected_profiles =
          static_cast<uint64_t>(std::max<int64_t>(field.number_value(), 0));
    } else if (field.number == otlp_field::kErrorMessage && field.is_bytes) {
      response->message = ToValidUtf8(field.bytes);
    }
  });
}

}  // namespace

Result<OtlpResponse> DecodeOtlpResponse(std::string_view bytes) {
  OtlpResponse response;
  bool inside = true;
  const bool outside = ForEachField(bytes, [&](const WireField& field) {
    if (field.number != otlp_field::kPartialSuccess || !field.is_bytes) return;
    inside = inside && ReadPartialSuccess(field.bytes, &response);
  });
  if (!outside || !inside)
    return Error(ErrorCode::kCorrupt, "not an ExportProfilesServiceResponse");
  return response;
}

}  // namespace firetower::profile
