// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <span>

#include "symbolizer/elf/debug_link.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace symbolizer = firetower::symbolizer;
  auto link = symbolizer::ParseDebugLink(std::as_bytes(std::span(data, size)));
  if (!link) return 0;
  const std::string& name = link->file_name;
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos) {
    std::abort();
  }
  return 0;
}
