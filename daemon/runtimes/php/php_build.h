// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "bpf/abi/runtime.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::daemon {

struct FoundPhp {
  std::string version;          // "8.2"; empty: the file is no PHP
  std::optional<ft_php> build;  // how to find its frames
  std::string why;              // where there is no build, for people
};

// Tells which PHP a file is (an executable or libphp.so), by what it exports, and how to find the
// frames in processes that map it. Fails where the file is damaged.
Result<FoundPhp> FindPhp(const symbolizer::ElfFile& file);

}  // namespace firetower::daemon
