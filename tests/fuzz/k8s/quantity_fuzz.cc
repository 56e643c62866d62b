// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "k8s/document/pattern.h"
#include "k8s/document/quantity.h"

// The parser takes what the CRD's pattern takes, and nothing else.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace k8s = firetower::k8s;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = k8s::ParseQuantity(text);
  const bool fits = size <= k8s::kMaxQuantityBytes;
  const bool accepted = parsed || parsed.error().code() == firetower::ErrorCode::kExhausted;
  CHECK(accepted == (fits && k8s::MatchesPattern(k8s::kQuantityPattern, text)));
  if (parsed) {
    CHECK(parsed->units >= 0 && parsed->nanos >= 0 && parsed->nanos < 1000000000);
    CHECK(parsed->MilliRoundedUp() >= 0 && parsed->RoundedUp() >= parsed->units);
  }
  return 0;
}
