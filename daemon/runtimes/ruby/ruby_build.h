// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "bpf/abi/runtime.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::daemon {

struct FoundRuby {
  std::string version;           // "3.3"; empty: the file is no CRuby
  std::optional<ft_ruby> build;  // how to find its frames
  std::string why;               // where there is no build, for people
};

// Tells which CRuby a file is (libruby, stripped or not), by what it exports, and how to find the
// frames in processes that map it. Fails where the file is damaged.
Result<FoundRuby> FindRuby(const symbolizer::ElfFile& file);

}  // namespace firetower::daemon
