// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "diagnosis/signature.h"

namespace firetower::query {

// Reads a file of further signatures (diagnosis/signature.h); an empty path has none. kInvalid: it
// is no such table, or has a signature under the name of one that comes with the program. Other
// errors are those of reading it.
Result<std::vector<diagnosis::Signature>> ReadSignatureFile(const std::string& path);

}  // namespace firetower::query
