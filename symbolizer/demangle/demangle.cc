// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle.h"

#include <optional>

#include "symbolizer/demangle/cpp.h"
#include "symbolizer/demangle/rust_legacy.h"
#include "symbolizer/demangle/rust_v0.h"

namespace firetower::symbolizer {

std::string Demangle(std::string_view mangled) {
  std::optional<std::string> demangled;
  if (mangled.size() > kMaxMangledBytes) return std::string(mangled);
  if (mangled.starts_with("_R")) {
    demangled = DemangleRustV0(mangled);
  } else if (mangled.starts_with("_Z")) {
    // Legacy Rust is valid C++ mangling as well, so it is asked first.
    demangled = DemangleRustLegacy(mangled);
    if (!demangled) demangled = DemangleCpp(mangled);
  }
  return demangled ? *std::move(demangled) : std::string(mangled);
}

}  // namespace firetower::symbolizer
