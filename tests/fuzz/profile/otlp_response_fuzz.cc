// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "profile/otlp/response.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto response = firetower::profile::DecodeOtlpResponse(bytes);
  if (!response) return 0;
  CHECK(response->rejected_profiles <= INT64_MAX);
  // Whatever a server says can be logged.
  CHECK(firetower::ToValidUtf8(response->message) == response->message);
  return 0;
}
