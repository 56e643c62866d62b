// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "symbolizer/demangle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace symbolizer = firetower::symbolizer;
  std::string_view name(reinterpret_cast<const char*>(data), size);
  std::string demangled = symbolizer::Demangle(name);
  if (demangled != name && demangled.size() > symbolizer::kMaxDemangledBytes) std::abort();
  for (std::string_view text : {std::string_view(demangled), name}) {
    std::string simple = symbolizer::SimplifyName(text);
    if (simple.size() > symbolizer::kMaxLabelBytes || simple.empty() != text.empty()) std::abort();
  }
  return 0;
}
