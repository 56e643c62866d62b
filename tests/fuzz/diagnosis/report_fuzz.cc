// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "diagnosis/report.h"

// Any text as a server's report: what is taken can be written again and read back.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace diagnosis = firetower::diagnosis;
  const auto report = diagnosis::ReportFromJson({reinterpret_cast<const char*>(data), size});
  if (!report) return 0;
  CHECK(diagnosis::ReportFromJson(diagnosis::ToJson(*report)));
  CHECK(!diagnosis::ToMarkdown(*report, "x").empty());
  return 0;
}
