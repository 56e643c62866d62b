// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "diagnosis/signature.h"

// Any text as a table of signatures: what is taken has all that a finding needs.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace diagnosis = firetower::diagnosis;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = diagnosis::ParseSignatures(text);
  if (!table) {
    CHECK(!table.error().message().empty());
    return 0;
  }
  for (const diagnosis::Signature& one : *table) {
    CHECK(!one.name.empty() && !one.cause.empty() && !one.next.empty());
    CHECK(!one.stack.empty() && !one.types.empty());
    CHECK(one.at_least_percent > 0 && one.at_least_percent <= 100);
    for (const auto& step : one.stack) {
      for (const std::string& pattern : step) (void)diagnosis::MatchesPattern(pattern, text);
    }
  }
  return 0;
}
