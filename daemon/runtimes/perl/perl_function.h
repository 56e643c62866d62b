// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "daemon/runtimes/python_function.h"

namespace firetower::daemon {

// Takes a record of a subroutine of Perl's apart: "Package::name", and one without a name with the
// place where it begins, "Package::__ANON__[FILE:LINE]". Code in none is "{main}", "eval" or
// "require FILE". kCorrupt: the record is shorter than it says, or says nothing. A text that did
// not fit ends with "…".
Result<ReadFunction> ReadPerlRecord(std::span<const std::byte> record);

}  // namespace firetower::daemon
