// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {

// The vdso's functions. The kernel maps the same image into every 64-bit process, so our own copy
// serves for all. A look-up takes the pc's distance from the start of the process's [vdso].
struct Vdso {
  std::shared_ptr<const SymbolTable> symbols;
  std::string build_id;  // hex, may be empty
};
Result<Vdso> LoadVdso(std::span<const std::byte> image);
// Returns our own image: getauxval(AT_SYSINFO_EHDR), valid for the life of the process. kNotFound:
// the kernel runs without one (vdso=0).
Result<std::span<const std::byte>> OwnVdsoImage();
Result<Vdso> LoadOwnVdso();

}  // namespace firetower::symbolizer
