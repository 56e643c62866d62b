// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.h"
#include "base/json.h"
#include "service/metrics/label_text.h"

// Whatever a symbol table holds, its quoted form is valid UTF-8 and stays one line inside its
// quotes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view name(reinterpret_cast<const char*>(data), size);
  std::string quoted;
  firetower::service::AppendLabelValue(quoted, name);
  CHECK(firetower::ToValidUtf8(quoted) == quoted);
  CHECK(quoted.find('\n') == std::string::npos);
  size_t quotes = static_cast<size_t>(std::count(name.begin(), name.end(), '"'));
  CHECK(static_cast<size_t>(std::count(quoted.begin(), quoted.end(), '"')) == quotes);
  for (size_t i = 0; i < quoted.size(); ++i) {
    CHECK(quoted[i] != '"');
    if (quoted[i] == '\\') ++i;  // the escaped one
  }
  return 0;
}
