// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "profile/selector.h"
#include "profile/type.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto type = firetower::profile::ParseTypeSelection(text)) {
    CHECK(firetower::profile::ParseProfileType(type->type.Name()));
    CHECK(type->type.FileToken().find_first_of("-:/") == std::string::npos);
  }
  auto selector = firetower::profile::Selector::Parse(text);
  if (!selector) return 0;
  // The canonical text selects the same.
  auto again = firetower::profile::Selector::Parse(selector->ToString());
  CHECK(again);
  CHECK(again->ToString() == selector->ToString());
  for (std::string_view value : {"", "shop", "web-1", "cpu"}) {
    auto value_of = [value](std::string_view) { return value; };
    CHECK(again->Matches(value_of) == selector->Matches(value_of));
  }
  return 0;
}
