// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "bpf/abi/runtime.h"
#include "daemon/runtimes/found_runtime.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::daemon {

using FoundPerl = FoundRuntime<ft_perl>;

// Tells which Perl a file is (an executable or libperl.so), by what it exports, and how to find the
// frames in processes that map it. Fails where the file is damaged.
Result<FoundPerl> FindPerl(const symbolizer::ElfFile& file);

}  // namespace firetower::daemon
