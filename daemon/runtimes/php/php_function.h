// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "daemon/runtimes/python_function.h"

namespace firetower::daemon {

// Takes a record of a function of PHP's apart. Its code without a function is "{main}", "eval" or
// "include FILE", and a method "Class::method". kCorrupt: the record is shorter than it says, or
// says nothing. A text that did not fit ends with "…".
Result<ReadFunction> ReadPhpRecord(std::span<const std::byte> record);

}  // namespace firetower::daemon
