// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bpf/abi/runtime.h"

namespace firetower::daemon {

// Makes valid UTF-8 of a name of `length` bytes of which `bytes` were read: PHP's and Ruby's may be
// any. It ends at a zero, as what follows one is not for people (the place of a class of PHP's
// without a name), and with "…" where some were not read; empty if none was.
std::string TextOfBytes(std::string_view bytes, uint64_t length);
std::string TextOfBytes(const ft_text& text);

}  // namespace firetower::daemon
