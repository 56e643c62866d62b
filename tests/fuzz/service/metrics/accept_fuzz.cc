// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "service/metrics/negotiation.h"

// Any header has an answer, and one that does not name OpenMetrics gets text.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using firetower::service::ExpositionFormat;
  std::string_view header(reinterpret_cast<const char*>(data), size);
  ExpositionFormat format = firetower::service::NegotiateFormat(header);
  if (format == ExpositionFormat::kOpenMetrics)
    CHECK(size >= sizeof("application/openmetrics-text") - 1);
  return 0;
}
