// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "bpf/abi/runtime.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::daemon {

struct FoundPython {
  std::string version;             // "3.11"; empty: the file is no CPython
  std::optional<ft_python> build;  // how to find its frames
  std::string why;                 // where there is no build, for people
};

// Tells which CPython a file is, by what it exports, and how to find the frames in processes that
// map it. Fails where the file is damaged.
Result<FoundPython> FindPython(const symbolizer::ElfFile& file);

}  // namespace firetower::daemon
